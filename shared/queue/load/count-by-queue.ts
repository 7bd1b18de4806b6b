import { TASK_QUEUES, type TaskQueue } from '../../config/index.ts';
import type { Load, Waiting } from './read-load.ts';
import { type WaitKind, waitKindOf } from './wait-kind.ts';

/** What waits in a queue, by what it counts as. */
export interface QueueWaits {
  /** All: those for a slot, held ones and parked ones. */
  waiting: number;
  forSlot: number;
  /** Until something is released, those for a daemon included. */
  held: number;
  forDaemon: number;
  parked: number;
  /** How long the oldest has waited that is not parked; null without one. */
  oldestMs: number | null;
}

/** What waits in each queue of tasks. */
export function countByQueue({ waiting }: Load): ReadonlyMap<TaskQueue, QueueWaits> {
  return new Map(TASK_QUEUES.map((name) => [name, countOf(waiting.filter(({ queue }) => queue === name))]));
}

function countOf(all: readonly Waiting[]): QueueWaits {
  const byKind = Map.groupBy(all, ({ gate }) => waitKindOf(gate));
  const sum = (kind: WaitKind): number => (byKind.get(kind) ?? []).reduce((total, { count }) => total + count, 0);
  const [forSlot, forDaemon, parked] = [sum('slot'), sum('daemon'), sum('parked')];
  const held = sum('held') + forDaemon;
  const ages = all.flatMap(({ gate, oldestMs }) => (waitKindOf(gate) === 'parked' ? [] : (oldestMs ?? [])));
  return { waiting: forSlot + held + parked, forSlot, held, forDaemon, parked, oldestMs: ages.length === 0 ? null : Math.max(...ages) };
}
