import pMap from 'p-map';
import { scanTasks } from '../scan-tasks.ts';
import type { FleetLimits, TenantLimits } from '../../config/index.ts';
import { type Ledger, tenantsWithTasks } from '../../ledger/index.ts';
import { type PastTask, pastTask } from './past-task.ts';
import { type Caps, simulateCaps } from './simulate-caps.ts';
import { simulateRates } from './simulate-rates.ts';

/** What one limit would have done. */
export interface LimitEffect {
  /** Its name, such as `running` or `runningByAgent.writer`. */
  limit: string;
  waited: number;
  refused: number;
  /** The longest wait of a task that waited for it, ms; of a rate the longest `Retry-After`. */
  longestMs: number;
}

/** What limits would have done to the tasks of the last day. */
export interface LimitsPreview {
  /** Tasks that ran, and that were read for this. */
  tasks: number;
  wouldHaveWaited: number;
  wouldHaveBeenRefused: number;
  longestMs: number;
  /** The limit that most tasks met first. */
  byLimit: LimitEffect[];
  /** The tasks were accepted from then on, ms since the epoch. */
  since: number;
}

type SimulatedLimits = Caps & Pick<TenantLimits, 'rates'>;

/** Statuses that a task has when it ran. */
const RAN = ['running', 'failed', 'timeout', 'completed', 'cancelled', 'permanently_failed', 'queued'] as const;
const DAY_MS = 86_400_000;

/** What these limits would have done to the tenant's tasks of the last day: to the newest ones, at most `limits.maxPreviewed`. */
export async function previewLimits(ledger: Ledger, tenant: string, limits: TenantLimits, now: number): Promise<LimitsPreview> {
  const { tasks, since } = await readPastTasks(ledger, tenant, { max: ledger.settings.limits.maxPreviewed, now });
  return { ...simulateLimits(tasks, limits, ledger.settings.lanes.reserveAfterMs), since };
}

/** The same for limits of the fleet and the tasks of these tenants. Those of one tenant leave room to others in what is read. */
export async function previewFleetLimits(
  ledger: Ledger,
  tenants: readonly { id: string }[],
  limits: FleetLimits,
  now: number,
): Promise<LimitsPreview> {
  const busy = [...(await tenantsWithTasks(ledger, tenants, 'index')).keys()];
  const max = Math.ceil(ledger.settings.limits.maxPreviewed / Math.max(1, busy.length));
  const read = await pMap(busy, (tenant) => readPastTasks(ledger, tenant, { max, now }), { concurrency: TENANTS_AT_ONCE });
  // Before that, tasks of some tenants are missing.
  const since = read.reduce((latest, each) => Math.max(latest, each.since), now - DAY_MS);
  const tasks = read.flatMap((each) => each.tasks).filter(({ acceptedAt }) => acceptedAt >= since);
  return { ...simulateLimits(tasks, asTenantLimits(limits), ledger.settings.lanes.reserveAfterMs), since };
}

const TENANTS_AT_ONCE = 10;

/** Limits of the fleet, as if one tenant had all of its tasks. */
function asTenantLimits({ maxConcurrent, runningByClass, runningLow, rates }: FleetLimits): SimulatedLimits {
  return { running: maxConcurrent, runningByClass, runningLow, rates, runningByAgent: {}, waiting: null };
}

interface PastTasks {
  tasks: PastTask[];
  since: number;
}

async function readPastTasks(ledger: Ledger, tenant: string, { max, now }: { max: number; now: number }): Promise<PastTasks> {
  const tasks: PastTask[] = [];
  let since = now - DAY_MS;
  let read = 0;
  for await (const batch of scanTasks(ledger, tenant, { statuses: RAN, since })) {
    tasks.push(...batch.tasks.map(({ id, state }) => pastTask(id, state, now)).filter((task) => task !== null));
    read += batch.read;
    if (read >= max && batch.next !== null) {
      since = tasks.at(-1)?.acceptedAt ?? since;
      break;
    }
  }
  return { tasks, since };
}

/** What limits would have done to tasks, by what is known of them. Pure. */
export function simulateLimits(tasks: readonly PastTask[], limits: SimulatedLimits, reserveAfterMs?: number): Omit<LimitsPreview, 'since'> {
  const refusals = simulateRates(tasks, limits.rates);
  const outcomes = simulateCaps(
    tasks.filter((_, position) => !refusals[position]),
    limits,
    reserveAfterMs,
  );
  const effects = new Map<string, LimitEffect>();
  for (const refusal of refusals) if (refusal) addEffect(effects, refusal.limit, { isRefused: true, ms: refusal.retryAfterMs });
  for (const { limits: names, isRefused, waitedMs } of outcomes)
    for (const name of names) addEffect(effects, name, { isRefused, ms: waitedMs });
  const waits = outcomes.map(({ waitedMs }) => waitedMs).filter((ms) => ms > 0);
  return {
    tasks: tasks.length,
    wouldHaveWaited: waits.length,
    wouldHaveBeenRefused: outcomes.filter(({ isRefused }) => isRefused).length + refusals.filter((refusal) => refusal !== null).length,
    longestMs: waits.reduce((longest, ms) => Math.max(longest, ms), 0),
    byLimit: [...effects.values()].toSorted((a, b) => b.waited + b.refused - a.waited - a.refused || (a.limit < b.limit ? -1 : 1)),
  };
}

/** A task that met a limit in the moment in which it got room did not wait. */
function addEffect(effects: Map<string, LimitEffect>, limit: string, { isRefused, ms }: { isRefused: boolean; ms: number }): void {
  if (!isRefused && ms === 0) return;
  const effect = effects.get(limit) ?? { limit, waited: 0, refused: 0, longestMs: 0 };
  effects.set(limit, {
    limit,
    waited: effect.waited + (isRefused ? 0 : 1),
    refused: effect.refused + (isRefused ? 1 : 0),
    longestMs: Math.max(effect.longestMs, ms),
  });
}
