import { TASK_QUEUES, type TaskQueue } from '../../config/index.ts';
import { frontOf, type Level, type ShardLevels } from '../../ledger/index.ts';
import type { FleetFacts } from './read-facts.ts';
import type { WaitingTask } from './wait-reason.ts';

/** Tasks in front of another that have queue and priority in common. */
export interface FrontPart {
  queue: TaskQueue;
  priority: number;
  count: number;
  /** How long each holds a slot, ms; null for what is usual there. */
  costMs: number | null;
}

/** What stands at `slot` beside a task, the best first: at its own queue and priority what has its turn before, else all. */
export function readFront(facts: FleetFacts, task: WaitingTask): FrontPart[] {
  const { queue, priority } = task.state;
  const isOwn = (level: Level): boolean => level.queue === queue && level.priority === priority;
  const elsewhere = facts.others.flatMap(({ levels }) => levels);
  const before = frontHere(facts, task);
  // Shards are served side by side: of an equal level as much goes before as is in front here.
  const beside = elsewhere.filter(isOwn).map((level) => partOf(level, Math.min(before?.count ?? 0, level.ready)));
  const others = [...facts.own.levels, ...elsewhere].filter((level) => !isOwn(level)).map((level) => partOf(level, level.ready));
  return byPriority([...(before ? [before] : []), ...beside, ...others]);
}

function byPriority(parts: FrontPart[]): FrontPart[] {
  return parts.toSorted((one, other) => TASK_QUEUES.indexOf(one.queue) - TASK_QUEUES.indexOf(other.queue) || other.priority - one.priority);
}

function partOf({ queue, priority }: Pick<Level, 'queue' | 'priority'>, count: number, costMs: number | null = null): FrontPart {
  return { queue, priority, count, costMs };
}

/** What is in front of a task at its queue and priority on its own shard. */
function frontHere({ own, readyBefore }: FleetFacts, { body, state }: WaitingTask): FrontPart | undefined {
  const isThere = own.levels.some(({ queue, priority }) => queue === state.queue && priority === state.priority);
  return isThere ? readyFront(own, state, { tenant: body.tenant, ahead: readyBefore }) : undefined;
}

/** Ready tickets that have their turn before. */
function readyFront(
  { lines }: ShardLevels,
  level: Pick<Level, 'queue' | 'priority'>,
  { tenant, ahead }: { tenant: string; ahead: number },
): FrontPart {
  if (lines.length === 0) return partOf(level, ahead);
  const { count, workMs } = frontOf(lines, tenant, ahead);
  return partOf(level, count, count === 0 ? null : workMs / count);
}
