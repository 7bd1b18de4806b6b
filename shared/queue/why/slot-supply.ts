import { TASK_QUEUES, type TaskQueue } from '../../config/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import { bandOf, peopleSlots, type SlotPolicy } from '../slots/slot-policy.ts';
import { planSlots } from '../queue-names.ts';
import { workerOf } from '../../tasks/index.ts';
import { takesFrom } from '../registry/offered-slots.ts';
import type { WorkerRecord } from '../registry/worker-registry.ts';
import { type Flow, type SlotSupply, timeToLastStart } from './drain-model.ts';
import type { FrontPart, TaskFront } from './front.ts';
import type { FleetFacts } from './read-facts.ts';
import { lateRests } from './rest-of-attempts.ts';
import type { ServiceCosts } from './service-costs.ts';
import type { WaitingTask } from './wait-reason.ts';

export interface QueueWait {
  facts: FleetFacts;
  task: WaitingTask;
  costs: ServiceCosts;
  front: TaskFront;
}

/** Milliseconds until a slot comes to a task behind all of this; null when nothing was measured yet, or no worker reports its slots. */
export function waitForSlot(ledger: Ledger, { facts, task, costs, front }: QueueWait): number | null {
  const { queue, priority } = task.state;
  const costMs = costs.ofTask(task);
  const supply = supplyOf(ledger, facts, task, costs);
  if (costMs === null || supply === null) return null;
  const policy = planSlots(ledger.settings, undefined);
  const own = flowOf(policy, queue, [...front.own, { queue, priority, count: 1, costMs }], costs);
  const others = TASK_QUEUES.filter((each) => each !== queue && isShared(facts, queue, each)).map((each) => {
    const parts = front.others.filter((part) => part.queue === each);
    return flowOf(policy, each, parts, costs);
  });
  return timeToLastStart(own, others, supply);
}

/** Whether some worker serves both queues. */
function isShared({ workers }: FleetFacts, one: TaskQueue, other: TaskQueue): boolean {
  return workers.some((worker) => takesFrom(worker, one) && takesFrom(worker, other));
}

function flowOf(policy: SlotPolicy, queue: TaskQueue, parts: readonly FrontPart[], costs: ServiceCosts): Flow {
  const segments = parts.map((part) => ({
    // As if it were new: which low ones have waited for long is not known.
    band: bandOf({ priority: part.priority, acceptedAt: 0 }, policy, 0),
    count: part.count,
    costMs: part.costMs ?? costs.ofPart(part),
  }));
  return { queue, weight: Math.max(1, policy.weights.get(queue) ?? 1), segments };
}

/** The slots of the workers that serve a task's queue; null when no worker reports how many it has. */
function supplyOf({ settings }: Ledger, facts: FleetFacts, task: WaitingTask, costs: ServiceCosts): SlotSupply | null {
  const { workers, room } = facts;
  const { queue } = task.state;
  const serving = workers.filter((worker) => takesFrom(worker, queue));
  const offered = sumOf(serving.map((each) => each.slots));
  if (offered === 0) return null;
  const slots = Math.min(offered, room.cap);
  const kept = keptFrom(settings, serving, queue);
  // Of the workers' slots and of the fleet's cap a part each is kept for critical tasks.
  const ordinary = Math.max(1, Math.min(offered - kept.critical - kept.people, room.cap - room.reserved));
  const reserved = queue === 'critical' ? 0 : Math.max(0, slots - ordinary);
  const free = freeFor(facts, serving, { queue, offered, kept });
  const running = facts.running.filter(({ state }) => state.queue === queue || isShared(facts, queue, state.queue));
  const lateMs = lateRests(running, task.body.tenant, costs, facts);
  return { slots, reserved, free, runningMs: costs.ofRunning(), lateMs: lateMs.slice(0, slots), shares: settings.worker.shares };
}

/** Slots that a task of a queue leaves to others. */
interface KeptSlots {
  critical: number;
  people: number;
}

function keptFrom({ limits, worker }: Ledger['settings'], serving: readonly WorkerRecord[], queue: TaskQueue): KeptSlots {
  if (queue === 'critical') return { critical: 0, people: 0 };
  const offered = sumOf(serving.map(({ slots }) => slots));
  const servesCritical = serving.some((each) => each.queues.length > 1 && takesFrom(each, 'critical'));
  return {
    critical: servesCritical ? Math.ceil(offered * limits.criticalShare) : 0,
    people: queue === 'chat' ? 0 : keptForPeople(serving, worker.peopleShare),
  };
}

/** Slots of these workers that a task of the queue may have now. What is kept for others, these use first. */
function freeFor(
  { room, running }: FleetFacts,
  serving: readonly WorkerRecord[],
  { queue, offered, kept }: { queue: TaskQueue; offered: number; kept: KeptSlots },
): number {
  const ids = new Set(serving.map(({ id }) => id));
  const runningOf = (other: TaskQueue): number =>
    running.filter(({ state }) => state.queue === other && ids.has(workerOf(state.worker ?? ''))).length;
  const unused = Math.max(0, kept.critical - runningOf('critical')) + Math.max(0, kept.people - runningOf('chat'));
  const inSlots = offered - sumOf(serving.map((each) => each.running)) - unused;
  const critical = running.filter(({ state }) => state.queue === 'critical').length;
  const inFleet = room.cap - room.running - (queue === 'critical' ? 0 : Math.max(0, room.reserved - critical));
  return Math.max(0, Math.min(inSlots, inFleet));
}

function sumOf(counts: readonly (number | null)[]): number {
  return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/** Slots of these workers that only people use. */
export function keptForPeople(workers: readonly WorkerRecord[], peopleShare: number): number {
  const serving = workers.filter((each) => each.queues.length > 1 && takesFrom(each, 'chat'));
  return serving.reduce((sum, { slots }) => sum + peopleSlots(slots ?? 0, peopleShare), 0);
}
