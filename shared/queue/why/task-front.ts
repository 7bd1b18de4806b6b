import type { Ledger } from '../../ledger/index.ts';
import { type FrontPart, readFront } from './front.ts';
import type { FleetFacts } from './read-facts.ts';
import type { ServiceCosts } from './service-costs.ts';
import { simulateStart } from './simulate-start.ts';
import { sceneOf } from './start-scene.ts';
import type { WaitingTask } from './wait-reason.ts';

/** What is before a task at `slot`, where nothing else holds it. */
export interface TaskFront {
  parts: readonly FrontPart[];
  /** About how many start before it, in its queue and in all. */
  inQueue: number;
  inFleet: number;
  /** In how many ms it starts behind these; null where it never would, or no worker reports its slots. */
  startMs: number | null;
}

/** Follows what stands at `slot`, and what runs, until the task starts: a better priority alone does not put all of another band or queue before it. */
export function findFront(ledger: Ledger, facts: FleetFacts, { task, costs }: { task: WaitingTask; costs: ServiceCosts }): TaskFront {
  const parts = readFront(facts, task);
  const scene = sceneOf(ledger, { facts, task, costs, parts, line: null, holdsPlace: () => false });
  if (scene === null) return { parts, ...countByPriority(parts, task), startMs: null };
  const { startMs, before } = simulateStart(scene);
  return {
    parts,
    inQueue: before.get(task.state.queue) ?? 0,
    inFleet: [...before.values()].reduce((sum, count) => sum + count, 0),
    startMs,
  };
}

/** Where nobody knows how slots are shared: no worker reports any. */
function countByPriority(parts: readonly FrontPart[], { state }: WaitingTask): Pick<TaskFront, 'inQueue' | 'inFleet'> {
  const before = parts.filter(({ queue, priority }) => queue === 'critical' || (state.queue !== 'critical' && priority >= state.priority));
  const inQueue = before.filter(({ queue }) => queue === state.queue);
  return { inQueue: sumOf(inQueue.map(({ count }) => count)), inFleet: sumOf(before.map(({ count }) => count)) };
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
