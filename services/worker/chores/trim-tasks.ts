import { forgetTask } from '#shared/ledger/forget-task.ts';
import { idAt } from '#shared/ledger/list-tasks.ts';
import { readTasks } from '#shared/ledger/read-tasks.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { systemClock, type Clock } from '#shared/time/clock.ts';
import { isTerminal, TASK_STATUSES } from '#shared/tasks/transitions.ts';

/** Tasks of one tenant looked at in one step, so that no tenant makes another wait. */
const STEP = 500;
/** Tasks looked at in one round: it is a second or two of work, and other chores wait for it. */
const ROUND_MOST = 20_000;
/** None is forgotten so soon after its end, however many there are: somebody may be about to read it. */
const FRESH_MS = 60_000;
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
  let walks = await Promise.all(parts.tenants.list().map(({ id }) => beginWalk(parts, id)));
  for (let seen = 0; seen < ROUND_MOST && walks.length > 0; seen += walks.length * STEP) {
    const further = await Promise.all(walks.map((walk) => walkOn(parts, walk, clock.now())));
    walks = further.filter((walk) => walk !== null);
  }
}

async function beginWalk({ ledger }: Parts, tenant: string): Promise<Walk> {
  const { index } = ledger.keys.tenant(tenant);
  const counts = await Promise.all(ENDS.map((prefix) => ledger.redis.zlexcount(index, `[${prefix}`, `(${prefix}\u00ff`)));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return { tenant, after: '', surplus: Math.max(0, total - ledger.settings.tasks.maxEnded) };
}

/** Looks at the next tasks of a walk. Answers where it goes on, or null at its end. */
async function walkOn({ ledger, log }: Parts, { tenant, after, surplus }: Walk, now: number): Promise<Walk | null> {
  const ended = await oldestEnded({ ledger }, tenant, after);
  const tasks = await readTasks(
    ledger,
    tenant,
    ended.map(({ id }) => id),
  );
  const before = now - ledger.settings.tasks.retentionMs;
  const isOver = (endedAt: number, position: number): boolean => endedAt < before || (position < surplus && endedAt < now - FRESH_MS);
  const over = tasks.filter((task, position) => task !== null && isOver(task.state.completedAt ?? now, position));
  await Promise.all(over.map(async (task) => task && (await forgetTask(ledger, task))));
  const orphaned = ended.filter((_, position) => tasks[position] === null).map(({ member }) => member);
  if (orphaned.length > 0) await ledger.redis.zrem(ledger.keys.tenant(tenant).index, ...orphaned);
  if (over.length > 0) log.debug({ tenant, tasks: over.length }, 'forgot tasks whose time is over');
  const last = ended.at(-1);
  const isLast = ended.length < STEP || last === undefined;
  // Whoever was accepted later ended later still.
  if (isLast || (surplus <= STEP && last.id >= idAt(before))) return null;
  return { tenant, after: last.id, surplus: Math.max(0, surplus - STEP) };
}

/** The next ended tasks of a tenant after that one, the first accepted first. */
async function oldestEnded({ ledger }: Pick<Parts, 'ledger'>, tenant: string, after: string): Promise<Ended[]> {
  const { index } = ledger.keys.tenant(tenant);
  const pages = await Promise.all(
    ENDS.map(async (prefix) => {
      const members = await ledger.redis.zrangebylex(index, `(${prefix}${after}`, `(${prefix}\u00ff`, 'LIMIT', 0, STEP);
      return members.map((member): Ended => ({ id: member.slice(prefix.length), member }));
    }),
  );
  return pages
    .flat()
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
    .slice(0, STEP);
}
