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

/** What is before a task on its path to a slot. */
export interface TaskFront {
  /** In its own queue, the best first. */
  own: FrontPart[];
  /** What waits in other queues, which share the workers. */
  others: FrontPart[];
  /** How many of these start before it, in its queue and in all. */
  inQueue: number;
  inFleet: number;
}

/** Finds what is in front of a task: what stands at a slot and has its turn before. */
export function findFront(facts: FleetFacts, task: WaitingTask): TaskFront {
  const elsewhere = facts.others.flatMap(({ levels }) => levels);
  const here = facts.own.levels;
  const { queue, priority } = task.state;
  const isOwn = (level: Level): boolean => level.queue === queue;
  const before = frontHere(facts, task);
  const own = [...before, ...elsewhere.filter(isOwn).flatMap((level) => fromOtherShard(level, priority, sumOf(before)))];
  const others = [...here, ...elsewhere].filter((level) => !isOwn(level)).map((level) => partOf(level, level.ready));
  const inQueue = sumOf(own);
  const isBefore = ({ queue: other, priority: each }: FrontPart): boolean =>
    other === 'critical' || (queue !== 'critical' && each >= priority);
  return { own: byPriority(own), others: byPriority(others), inQueue, inFleet: inQueue + sumOf(others.filter(isBefore)) };
}

function sumOf(parts: readonly FrontPart[]): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}

function byPriority(parts: FrontPart[]): FrontPart[] {
  return parts.toSorted((one, other) => TASK_QUEUES.indexOf(one.queue) - TASK_QUEUES.indexOf(other.queue) || other.priority - one.priority);
}

function partOf({ queue, priority }: Pick<Level, 'queue' | 'priority'>, count: number, costMs: number | null = null): FrontPart {
  return { queue, priority, count, costMs };
}

/** What is in front of a task in its queue on its own shard. */
function frontHere({ own, readyBefore }: FleetFacts, { body, state }: WaitingTask): FrontPart[] {
  const levels = own.levels.filter(({ queue }) => queue === state.queue);
  const better = levels.filter(({ priority }) => priority > state.priority).map((level) => partOf(level, level.ready));
  const equal = levels.find(({ priority }) => priority === state.priority);
  return equal === undefined ? better : [...better, readyFront(own, state, { tenant: body.tenant, ahead: readyBefore })];
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

/** Shards are served side by side: of an equal level as much goes before as is in front here. */
function fromOtherShard(level: Level, priority: number, here: number): FrontPart[] {
  if (level.priority > priority) return [partOf(level, level.ready)];
  return level.priority === priority ? [partOf(level, Math.min(here, level.ready))] : [];
}
