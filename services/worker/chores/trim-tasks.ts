import { removeOldTasks, idAt, type IsOld, type Ledger, tenantsWithTasks } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { systemClock, type Clock } from '#shared/time/index.ts';
import { isTerminal, TASK_STATUSES } from '#shared/tasks/index.ts';

/** Tasks of one tenant looked at in one step, so that no tenant makes another wait. */
const STEP = 500;
/** Tasks looked at in one round: it is a second or two of work, and other chores wait for it. */
const ROUND_MOST = 20_000;
/** Tenants looked at together. */
const TOGETHER = 20;
/** None is forgotten so soon after its end, however many there are: somebody may be about to read it. */
const FRESH_MS = 60_000;
/** Behind every id. */
const NO_END = '\u00ff';
const ENDS = TASK_STATUSES.filter(isTerminal).map((status) => `status=${status}/`);

/** How far a round came with a tenant's ended tasks, which are looked at in the order in which they were accepted. */
interface Walk {
  tenant: string;
  /** The last that was looked at. */
  after: string;
  /** How many more of them there are than may be. */
  surplus: number;
}

interface Ended {
  id: string;
  /** Its entry in the index. */
  member: string;
}

/** Forgets tasks that ended longer ago than `tasks.retentionMs` and, of a tenant that has more than `tasks.maxEnded`, the oldest. */
export async function trimTasks(parts: Parts, clock: Clock = systemClock): Promise<void> {
  const tenants = [...(await tenantsWithTasks(parts.ledger, parts.tenants.list(), 'index'))];
  let walks = await inGroups(tenants, ([tenant, lookups]) => beginWalk(parts, tenant, lookups));
  for (let seen = 0; seen < ROUND_MOST && walks.length > 0; seen += walks.length * STEP) {
    const further = await inGroups(walks, (walk) => walkOn(parts, walk, clock.now()));
    walks = further.filter((walk) => walk !== null);
  }
}

/** A few at once: thousands together would keep everything else of this process waiting. */
async function inGroups<Item, Result>(items: readonly Item[], take: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += TOGETHER) {
    results.push(...(await Promise.all(items.slice(from, from + TOGETHER).map((item) => take(item)))));
  }
  return results;
}

async function beginWalk({ ledger }: Parts, tenant: string, lookups: number): Promise<Walk> {
  const { maxEnded } = ledger.settings.tasks;
  // Every task has several lookups, so that there are no more tasks than these.
  if (lookups <= maxEnded) return { tenant, after: '', surplus: 0 };
  const { index } = ledger.keys.tenant(tenant);
  const counts = await Promise.all(ENDS.map((prefix) => ledger.redis.zlexcount(index, `[${prefix}`, `(${prefix}${NO_END}`)));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return { tenant, after: '', surplus: Math.max(0, total - maxEnded) };
}

/** Looks at the next tasks of a walk. Answers where it goes on, or null at its end. */
async function walkOn({ ledger, log }: Parts, { tenant, after, surplus }: Walk, now: number): Promise<Walk | null> {
  const before = now - ledger.settings.tasks.retentionMs;
  // Whoever was accepted later ended later still.
  const ended = await oldestEnded(ledger, tenant, { after, until: surplus > 0 ? NO_END : idAt(before) });
  const last = ended.at(-1);
  if (last === undefined) return null;
  const ids = ended.map(({ id }) => id);
  const isOld: IsOld = (endedAt, position) => endedAt < before || (position < surplus && endedAt < now - FRESH_MS);
  const { count, gone } = await removeOldTasks(ledger, tenant, ids, isOld);
  const orphaned = ended.filter(({ id }) => gone.includes(id)).map(({ member }) => member);
  if (orphaned.length > 0) await ledger.redis.zrem(ledger.keys.tenant(tenant).index, ...orphaned);
  if (count > 0) log.debug({ tenant, tasks: count }, 'forgot tasks whose time is over');
  return ended.length < STEP ? null : { tenant, after: last.id, surplus: Math.max(0, surplus - STEP) };
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
