import { type BudgetRule, budgetSchema, RUNAWAY_BUDGET, type Settings } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import { type Keys, readRecords, type RedisClient } from '../redis/index.ts';
import { tenantClosed } from '../tenants/index.ts';
import { Recent } from '../time/index.ts';
import type { Budget } from './budget.ts';
import { runBudgetScript } from './scripts.ts';

export interface BudgetDirectoryOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
}

/** How old a process's knowledge of budgets may be. */
const FRESH_MS = 1000;
/** Tenants whose own budgets are remembered. */
const MAX_TENANTS = 1000;

/** The bound on what a task and all that it leads to may cost. */
function runawayBudgets({ runaways: { maxCostMicroUsd } }: Pick<Settings, 'runaways'>): readonly Budget[] {
  if (maxCostMicroUsd === 0) return [];
  const rule = budgetSchema.parse({ scope: 'task', per: 'total', hardMicroUsd: maxCostMicroUsd });
  return [{ ...rule, id: RUNAWAY_BUDGET, origin: 'config' }];
}

type Written = 'new' | 'replaced' | 'removed' | 'unknown' | 'known' | 'full' | 'ended';

interface Remembered {
  version: string;
  budgets: readonly Budget[];
}

/**
 * BudgetDirectory is responsible for knowing which budgets a tenant has: the configuration's and its own. A tenant without own ones costs
 * no round trip.
 */
export class BudgetDirectory {
  readonly #options: BudgetDirectoryOptions;
  readonly #configured: ReadonlyMap<string, readonly Budget[]>;
  /** What all tenants have. */
  readonly #everyones: readonly Budget[];
  /** By shard, how often the own budgets of each tenant were changed. */
  readonly #versions: Recent<number, Promise<Readonly<Record<string, string>>>>;
  /** Tenants whose budgets of the configuration were taken. */
  readonly #taken = new Set<string>();
  readonly #own = new Recent<string, Remembered>({ maxEntries: MAX_TENANTS });

  constructor(options: BudgetDirectoryOptions) {
    this.#options = options;
    const { keys, settings } = options;
    this.#versions = new Recent({ maxEntries: keys.shards, keepMs: FRESH_MS });
    const configured = settings.budgets.map(({ tenant, ...rule }) => ({ tenant, budget: { ...rule, origin: 'config' } satisfies Budget }));
    this.#everyones = runawayBudgets(settings);
    const byTenant = Map.groupBy(configured, ({ tenant }) => tenant);
    this.#configured = new Map([...byTenant].map(([tenant, own]) => [tenant, [...own.map(({ budget }) => budget), ...this.#everyones]]));
  }

  /** The budgets in force, as read at most a second ago. */
  async of(tenant: string): Promise<readonly Budget[]> {
    const shard = this.#options.keys.shardOf(tenant);
    const version = (await (this.#versions.get(shard) ?? this.#readVersions(shard)))[tenant];
    const configured = this.#configuredFor(tenant);
    if (version === undefined) return configured;
    const known = this.#own.get(tenant);
    if (known?.version === version) return known.budgets;
    const budgets = await this.list(tenant);
    this.#own.set(tenant, { version, budgets });
    return budgets;
  }

  /** The configuration's own budgets of a tenant, once: this process does not know what their windows had cost before they were configured. */
  takeConfigured(tenant: string): readonly Budget[] {
    if (this.#taken.has(tenant) || !this.#configured.has(tenant)) return [];
    this.#taken.add(tenant);
    return this.#configuredFor(tenant).filter(({ id }) => id !== RUNAWAY_BUDGET);
  }

  #configuredFor(tenant: string): readonly Budget[] {
    return this.#configured.get(tenant) ?? this.#everyones;
  }

  /** The budgets as they are now; the same list when nothing changed. */
  async refresh(tenant: string): Promise<readonly Budget[]> {
    await this.#readVersions(this.#options.keys.shardOf(tenant));
    return await this.of(tenant);
  }

  /** The current budgets, by id. A budget that cannot be read is left out. */
  async list(tenant: string): Promise<readonly Budget[]> {
    const { redis, keys } = this.#options;
    const stored = await redis.hgetall(keys.tenant(tenant).budgets);
    const own = readRecords(Object.entries(stored), (json, id): Budget => ({ ...budgetSchema.parse(JSON.parse(json)), id, origin: 'api' }));
    return [...this.#configuredFor(tenant), ...own.items].toSorted((one, other) => one.id.localeCompare(other.id));
  }

  /**
   * Makes or replaces a budget; `onlyNew` replaces none. Returns whether it is new. Errors: `budget.exists`, `budget.operator-only`,
   * `request.invalid`, `tenant.ended`.
   */
  async put(tenant: string, id: string, rule: BudgetRule, { onlyNew = false } = {}): Promise<boolean> {
    const written = await this.#write(tenant, id, { json: JSON.stringify(rule), onlyNew });
    if (written === 'known') throw new MusterError('budget.exists', `There is a budget "${id}" already`, { details: { budget: id } });
    if (written !== 'full') return written === 'new';
    const { maxBudgetsPerTenant } = this.#options.settings.limits;
    throw new MusterError('request.invalid', `A tenant has at most ${maxBudgetsPerTenant} budgets of its own`, {
      details: { maxBudgetsPerTenant },
    });
  }

  /** Removes a budget. Returns whether there was one. Errors: `budget.operator-only`, `tenant.ended`. */
  async remove(tenant: string, id: string): Promise<boolean> {
    return (await this.#write(tenant, id, { json: '', onlyNew: false })) === 'removed';
  }

  /** Callers at the same time share one reading. */
  /** All that ask meanwhile get one promise: a caller with another would go on behind those that came later, and messages of a session change their order. */
  #readVersions(shard: number): Promise<Readonly<Record<string, string>>> {
    const { redis, keys } = this.#options;
    const reading = redis.hgetall(keys.shard(shard).budgetVersions);
    this.#versions.set(shard, reading);
    reading.catch(() => this.#versions.delete(shard));
    return reading;
  }

  async #write(tenant: string, id: string, { json, onlyNew }: { json: string; onlyNew: boolean }): Promise<Written> {
    if (this.#configuredFor(tenant).some((budget) => budget.id === id))
      throw new MusterError('budget.operator-only', `The budget "${id}" comes from the configuration and is changed there`);
    const { redis, keys, settings } = this.#options;
    const shard = keys.shardOf(tenant);
    const { tenantStates, budgetVersions } = keys.shard(shard);
    const written = await runBudgetScript<Written>(
      redis,
      'write-budget',
      [tenantStates, keys.tenant(tenant).budgets, budgetVersions],
      [tenant, id, json, settings.limits.maxBudgetsPerTenant, onlyNew ? 1 : 0],
    );
    if (written === 'ended') throw tenantClosed(tenant, written);
    await this.#readVersions(shard);
    return written;
  }
}
