import pMap from 'p-map';
import { removeOldTasks, idAt, type IsOld, type Ledger, tenantsWithTasks } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import { systemClock, type Clock } from '#shared/time/index.ts';
import { isTerminal, TASK_STATUSES } from '#shared/tasks/index.ts';
import type { Tenant } from '#shared/tenants/index.ts';

/** Tasks of one tenant checked in one step, so that no tenant makes another wait. */
const STEP = 500;
/** Tasks checked in one round: a second or two of work, for which other chores wait. */
const MAX_PER_ROUND = 20_000;
/** Tenants at once: thousands would keep everything else of this process waiting. */
const CONCURRENCY = 20;
/** No task is removed so soon after its end, however many there are: a client may be about to read it. */
const FRESH_MS = 60_000;
/** Behind every id. */
const NO_END = '\u00ff';
const ENDS = TASK_STATUSES.filter(isTerminal).map((status) => `status=${status}/`);

/** The progress of a round through a tenant's ended tasks, in the order in which they were accepted. */
interface Scan {
  tenant: string;
  /** The last task that was checked. */
  after: string;
  /** Tasks above `tasks.maxEnded`. */
  surplus: number;
}

interface TrimPorts {
  ledger: Ledger;
  tenants: { list(): Tenant[] };
  log: Log;
}

interface Ended {
  id: string;
  /** Its entry in the index. */
  member: string;
}

/** Removes tasks that ended longer ago than `tasks.retentionMs`, or their tenant's own time, and, of a tenant with more than `tasks.maxEnded`, the oldest. */
export async function trimTasks(parts: TrimPorts, clock: Clock = systemClock): Promise<void> {
  const tenants = [...(await tenantsWithTasks(parts.ledger, parts.tenants.list(), 'index'))];
  let scans = await pMap(tenants, ([tenant, lookups]) => startScan(parts, tenant, lookups), { concurrency: CONCURRENCY });
  for (let seen = 0; seen < MAX_PER_ROUND && scans.length > 0; seen += scans.length * STEP) {
    const next = await pMap(scans, (scan) => scanNext(parts, scan, clock.now()), { concurrency: CONCURRENCY });
    scans = next.filter((scan) => scan !== null);
  }
}

async function startScan({ ledger }: Pick<TrimPorts, 'ledger'>, tenant: string, lookups: number): Promise<Scan> {
  const { maxEnded } = ledger.settings.tasks;
  // Every task has several lookups, so that there are no more tasks than these.
  if (lookups <= maxEnded) return { tenant, after: '', surplus: 0 };
  const { index } = ledger.keys.tenant(tenant);
  const counts = await Promise.all(ENDS.map((prefix) => ledger.redis.zlexcount(index, `[${prefix}`, `(${prefix}${NO_END}`)));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return { tenant, after: '', surplus: Math.max(0, total - maxEnded) };
}

/** Checks the next tasks of a scan. Returns where it continues, or null at its end. */
async function scanNext({ ledger, log }: TrimPorts, { tenant, after, surplus }: Scan, now: number): Promise<Scan | null> {
  const before = now - retentionOf(ledger, tenant);
  // A task that was accepted later ended later still.
  const ended = await oldestEnded(ledger, tenant, { after, until: surplus > 0 ? NO_END : idAt(before) });
  const last = ended.at(-1);
  if (last === undefined) return null;
  const ids = ended.map(({ id }) => id);
  const isOld: IsOld = (endedAt, position) => endedAt < before || (position < surplus && endedAt < now - FRESH_MS);
  const { count, gone } = await removeOldTasks(ledger, tenant, ids, isOld);
  const orphaned = ended.filter(({ id }) => gone.includes(id)).map(({ member }) => member);
  if (orphaned.length > 0) await ledger.redis.zrem(ledger.keys.tenant(tenant).index, ...orphaned);
  if (count > 0) log.debug({ tenant, tasks: count }, 'removed tasks at the end of their retention');
  return ended.length < STEP ? null : { tenant, after: last.id, surplus: Math.max(0, surplus - STEP) };
}

/** A tenant's own time is a shorter one. */
function retentionOf({ limitsOf, settings }: Ledger, tenant: string): number {
  return Math.min(settings.tasks.retentionMs, limitsOf(tenant)?.retentionMs ?? Infinity);
}

/** The next ended tasks of a tenant between two ids, the first accepted first. */
async function oldestEnded(ledger: Ledger, tenant: string, { after, until }: { after: string; until: string }): Promise<Ended[]> {
  const { index } = ledger.keys.tenant(tenant);
  const pages = await Promise.all(
    ENDS.map(async (prefix) => {
      const members = await ledger.redis.zrangebylex(index, `(${prefix}${after}`, `(${prefix}${until}`, 'LIMIT', 0, STEP);
      return members.map((member): Ended => ({ id: member.slice(prefix.length), member }));
    }),
  );
  return pages
    .flat()
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .slice(0, STEP);
}
