import { fileURLToPath } from 'node:url';
import type { Settings } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { type Keys, loadScripts, type RedisClient, redisNow, runScript } from '../redis/index.ts';
import { Ticker } from '../time/index.ts';
import { DEFAULT_TENANT } from '../tenants/index.ts';
import { addAgentHour, AGENT_FIELDS, agentsKeptMs, HOUR_MS } from './agent-hours.ts';
import { addAgentMinute, MINUTE_FIELDS, MINUTE_MS } from './agent-minutes.ts';
import { CodeLabels } from './code-labels.ts';
import { type Gauges, gaugeFields } from './gauges.ts';
import { type AgentSeries, allSeries, LocalCounts, type TakenCounts, type TenantCounts } from './local-counts.ts';
import { ServiceTimes, weightOf } from './service-times.ts';
import { addAgent, addCalls, addLostOutputs, addMinute, addTotals, type Counts } from './stored-counts.ts';

export interface FleetMetricsOptions {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
  log: Log;
}

type ScriptName = 'add-counts' | 'add-service-times';

/** What is to be added to a hash; that of a tenant only while it has not ended. */
interface Addition {
  script: ScriptName;
  states: string;
  key: string;
  args: (string | number)[];
}

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)));
/** Additions of one call: with many tenants each has few, and a call costs more than an addition. */
const TOGETHER = 50;
/** Additions kept for the next flush while Redis is away; the oldest go first. */
const MAX_OWED = 2000;
/** What stands for agents that tenants made: readers of the fleet's metrics may not see their names. */
const OTHER_AGENT = 'other';

/**
 * FleetMetrics is responsible for bringing what this process counted to Redis every few seconds, so that a step of a task costs no
 * command and every process reads the same sums. A process that is killed loses one flush at most.
 */
export class FleetMetrics {
  readonly counts: LocalCounts;
  readonly serviceTimes: ServiceTimes;
  readonly #options: FleetMetricsOptions;
  readonly #codes = new CodeLabels();
  readonly #ticker: Ticker | undefined;
  #owed: Addition[] = [];

  constructor(options: FleetMetricsOptions) {
    const { flushMs } = options.settings.metrics;
    this.#options = options;
    this.counts = new LocalCounts(flushMs !== null);
    this.serviceTimes = new ServiceTimes(options.redis, options.keys);
    if (flushMs === null) return;
    const onError = (error: unknown): void => options.log.debug({ err: error }, 'the counts are kept for the next flush');
    this.#ticker = new Ticker({ everyMs: flushMs, run: () => this.flush(), onError });
  }

  start(): void {
    this.#ticker?.start();
  }

  /** Ends with a last flush. */
  async stop(): Promise<void> {
    if (!this.#ticker) return;
    await this.#ticker.stop();
    await this.flush().catch((error: unknown) => this.#options.log.debug({ err: error }, 'the last counts are lost'));
  }

  /** Adds what was counted to Redis. What cannot be added now is kept, and what was added although the answer was lost counts twice. */
  async flush(): Promise<void> {
    await this.#collect();
    const groups = Map.groupBy(this.#owed.splice(0), ({ script, states }) => `${script} ${states}`);
    const failed: Addition[] = [];
    for (const additions of groups.values()) {
      for (let from = 0; from < additions.length; from += TOGETHER) {
        const page = additions.slice(from, from + TOGETHER);
        await this.#add(page).catch(() => failed.push(...page));
      }
    }
    // Samples that came meanwhile wait for the next flush, behind what this one could not add.
    this.#owed.unshift(...failed);
    this.#owed.splice(0, Math.max(0, this.#owed.length - MAX_OWED));
    if (failed.length > 0) throw new Error(`${failed.length} additions failed`);
  }

  /** Adds what was measured of tenants, and of the fleet (null), to the figures of this minute with the next flush. */
  async addSamples(samples: readonly (readonly [tenant: string | null, gauges: Gauges])[]): Promise<void> {
    const { redis, keys } = this.#options;
    const minute = Math.floor((await redisNow(redis)) / MINUTE_MS);
    for (const [tenant, gauges] of samples) {
      const own = tenant === null ? keys.fleet : keys.tenant(tenant);
      const { tenantStates } = keys.shard(tenant === null ? 0 : keys.shardOf(tenant));
      const values = new Map(gaugeFields(gauges));
      this.#owed.push(addCounts(tenantStates, own.metricMinute(minute), { tenant, keepMs: this.#keptMs(tenant) }, values));
    }
  }

  async #collect(): Promise<void> {
    const { redis, keys, settings } = this.#options;
    if (this.counts.isEmpty) return;
    // Whatever these two calls throw, the counts are still there.
    const now = await redisNow(redis);
    const minute = Math.floor(now / MINUTE_MS);
    await this.#codes.admit(redis, keys, this.counts.codes, settings.metrics.maxCodes);
    const taken = this.counts.take();
    this.#owed.push(...this.#fleetAdditions(taken, minute));
    for (const [tenant, counts] of taken.tenants) this.#owed.push(...this.#tenantAdditions(tenant, counts, now));
  }

  #fleetAdditions({ tenants, agents, calls, lostOutputs }: TakenCounts, minute: number): Addition[] {
    const { keys, settings } = this.#options;
    const [totals, inMinute]: [Counts, Counts] = [new Map(), new Map()];
    for (const series of allSeries(tenants)) {
      addTotals(totals, series, (code) => this.#codes.labelOf(code));
      addMinute(inMinute, series);
    }
    for (const [agent, used] of agents) addAgent(totals, Object.hasOwn(settings.agents, agent) ? agent : OTHER_AGENT, used);
    addCalls(totals, calls);
    addLostOutputs(totals, lostOutputs);
    const { tenantStates } = keys.shard(0);
    return [
      addCounts(tenantStates, keys.fleet.metrics, { tenant: null, keepMs: 0 }, totals),
      addCounts(tenantStates, keys.fleet.metricMinute(minute), { tenant: null, keepMs: this.#keptMs(null) }, inMinute),
    ];
  }

  #tenantAdditions(tenant: string, { series, times, agents }: TenantCounts, now: number): Addition[] {
    const { keys, settings } = this.#options;
    const own = keys.tenant(tenant);
    const { tenantStates: states } = keys.shard(keys.shardOf(tenant));
    const inMinute: Counts = new Map();
    for (const each of series.values()) addMinute(inMinute, each);
    const minute = own.metricMinute(Math.floor(now / MINUTE_MS));
    const additions = [addCounts(states, minute, { tenant, keepMs: this.#keptMs(tenant) }, inMinute)];
    if (agents.size > 0) additions.push(...this.#agentAdditions(tenant, agents, now));
    if (times.size === 0) return additions;
    const { maxServiceTimes, serviceTimesMs } = settings.metrics;
    const measured = [...times].map(([name, { attempts, totalMs }]) => [name, totalMs / attempts, weightOf(attempts)]);
    const args = [tenant, serviceTimesMs, maxServiceTimes, JSON.stringify(measured)];
    return [...additions, { script: 'add-service-times', states, key: own.serviceTimes, args }];
  }

  #agentAdditions(tenant: string, agents: ReadonlyMap<string, AgentSeries>, now: number): Addition[] {
    const { keys, settings } = this.#options;
    const { maxAgents, failingMs } = settings.metrics;
    const [inHour, inMinute]: [Counts, Counts] = [new Map(), new Map()];
    for (const [agent, series] of agents) {
      addAgentHour(inHour, agent, series, now);
      addAgentMinute(inMinute, agent, series);
    }
    const { tenantStates } = keys.shard(keys.shardOf(tenant));
    const keepMs = agentsKeptMs(settings, tenant) + HOUR_MS;
    const hour = keys.tenant(tenant).agentHour(Math.floor(now / HOUR_MS));
    const additions = [addCounts(tenantStates, hour, { tenant, keepMs, maxFields: maxAgents * AGENT_FIELDS }, inHour)];
    if (inMinute.size === 0) return additions;
    const minute = keys.tenant(tenant).agentMinute(Math.floor(now / MINUTE_MS));
    const kept = { tenant, keepMs: failingMs + 2 * MINUTE_MS, maxFields: maxAgents * MINUTE_FIELDS };
    return [...additions, addCounts(tenantStates, minute, kept, inMinute)];
  }

  /** How long the counters of a minute are kept: as long as something reads them, and the minute that has begun. */
  #keptMs(tenant: string | null): number {
    const { windowMs, historyMs, tenantHistoryMs } = this.#options.settings.metrics;
    // A fleet may have thousands of tenants.
    const isOwner = tenant === null || tenant === DEFAULT_TENANT;
    return Math.max(windowMs, isOwner ? historyMs : tenantHistoryMs) + 2 * MINUTE_MS;
  }

  /** Makes additions of one script and shard in one call. */
  async #add(additions: readonly Addition[]): Promise<void> {
    const { script = '', states = '' } = additions[0] ?? {};
    const found = SCRIPTS.get(script);
    if (!found) throw new Error(`The script ${script} is missing`);
    const keys = [states, ...additions.map(({ key }) => key)];
    await runScript(
      this.#options.redis,
      found,
      keys,
      additions.flatMap(({ args }) => args),
    );
  }
}

interface Kept {
  /** Null for the fleet. */
  tenant: string | null;
  /** After the first addition; 0 is for good. */
  keepMs: number;
  /** From so many on no new field is added. */
  maxFields?: number;
}

function addCounts(states: string, key: string, { tenant, keepMs, maxFields = 0 }: Kept, counts: Counts): Addition {
  const args = [tenant ?? '', keepMs, maxFields, JSON.stringify(Object.fromEntries(counts))];
  return { script: 'add-counts', states, key, args };
}
