import { TASK_QUEUES, type TaskQueue } from '../../config/index.ts';
import type { FleetCap, Ledger, RunningTask } from '../../ledger/index.ts';
import { peopleSlots, type SlotPolicy } from '../slots/slot-policy.ts';
import { planSlots } from '../queue-names.ts';
import { workerOf } from '../../tasks/index.ts';
import { takesFrom } from '../registry/offered-slots.ts';
import type { WorkerRecord } from '../registry/worker-registry.ts';
import { systemClock } from '../../time/index.ts';
import type { FrontPart } from './front.ts';
import type { FleetFacts } from './read-facts.ts';
import { restOf } from './rest-of-attempts.ts';
import type { ServiceCosts } from './service-costs.ts';
import type { StartScene } from './simulate-start.ts';
import type { WaitingTask } from './wait-reason.ts';

export interface QueueWait {
  facts: FleetFacts;
  task: WaitingTask;
  costs: ServiceCosts;
  parts: readonly FrontPart[];
  /** The lane or cap that it waits for, and whether a running task has a place there. */
  line: StartScene['line'];
  holdsPlace: (running: RunningTask) => boolean;
}

/** What a task waits behind; null when no worker reports its slots. */
export function sceneOf(ledger: Ledger, { facts, task, costs, parts, line, holdsPlace }: QueueWait): StartScene | null {
  const { queue, priority, createdAt: acceptedAt, awaitedBy } = task.state;
  const policy = policyOf(ledger, facts, queue);
  if (policy === null) return null;
  const isBeside = servedWith(facts, queue);
  return {
    policy,
    cap: capBeside(facts, isBeside),
    running: runningBeside(facts, task, { costs, holdsPlace, isBeside }),
    front: parts
      .filter((part) => isShared(facts, queue, part.queue))
      .map((part) => ({
        queue: part.queue,
        priority: part.priority,
        count: part.count,
        costMs: part.costMs ?? costs.ofPart(part),
      })),
    line,
    own: { queue, priority, acceptedAt, awaitedBy, costMs: costs.ofTask(task) ?? costs.ofRunning() },
    now: systemClock.now() - facts.skewMs,
  };
}

type IsRunning = (running: RunningTask) => boolean;

/** Whether a task runs at a worker that serves a queue. */
function servedWith({ workers }: FleetFacts, queue: TaskQueue): IsRunning {
  const ids = new Set(workers.filter((worker) => takesFrom(worker, queue)).map(({ id }) => id));
  return ({ state }) => ids.has(workerOf(state.worker ?? ''));
}

/** What the fleet's cap leaves to these workers. What is critical elsewhere uses its own part first. */
function capBeside({ room, running }: FleetFacts, isBeside: IsRunning): FleetCap {
  const elsewhere = running.filter((each) => !isBeside(each));
  const critical = elsewhere.filter(({ state }) => state.queue === 'critical').length;
  return { max: Math.max(0, room.cap - elsewhere.length), reserved: Math.max(0, room.reserved - critical) };
}

/** What runs in the workers that serve the task's queue. Of what was not read as much of its time is left as of the usual. */
function runningBeside(
  facts: FleetFacts,
  task: WaitingTask,
  { costs, holdsPlace, isBeside }: Pick<QueueWait, 'costs' | 'holdsPlace'> & { isBeside: IsRunning },
): StartScene['running'] {
  const { queue, priority } = task.state;
  const unread = Math.max(0, facts.room.running - facts.running.length);
  const usualMs = costs.ofRunning();
  return [
    ...facts.running.flatMap((each) => {
      if (!isBeside(each) && !holdsPlace(each)) return [];
      const costMs = each.tenant === task.body.tenant ? costs.ofTask(each) : costs.ofPart(each.state);
      const restMs = restOf(each, costMs ?? usualMs, facts);
      return [{ queue: each.state.queue, priority: each.state.priority, restMs, holdsPlace: holdsPlace(each) }];
    }),
    ...Array.from({ length: unread }, (_, at) => ({ queue, priority, restMs: (usualMs * (at + 0.5)) / unread })),
  ];
}

/** Whether some worker serves both queues. */
function isShared({ workers }: FleetFacts, one: TaskQueue, other: TaskQueue): boolean {
  return workers.some((worker) => takesFrom(worker, one) && takesFrom(worker, other));
}

/** The slots of the workers that serve a queue, as those of one worker; null when none reports how many it has. */
function policyOf({ settings }: Ledger, facts: FleetFacts, queue: TaskQueue): SlotPolicy | null {
  const serving = facts.workers.filter((worker) => takesFrom(worker, queue));
  const slots = sumOf(serving, (worker) => worker.slots ?? 0);
  if (slots === 0) return null;
  const { weights: usual, shares, lowAgeMs } = planSlots(settings, undefined);
  const weights = TASK_QUEUES.flatMap((each) => {
    const taking = serving.filter((worker) => takesFrom(worker, each));
    return taking.length === 0 ? [] : [[each, sumOf(taking, ({ sure }) => sure?.[each] ?? usual.get(each) ?? 1)] as const];
  });
  return {
    slots,
    reserved: Math.min(
      slots - 1,
      sumOf(serving, (worker) => keptForCritical(worker, settings.limits.criticalShare)),
    ),
    people: keptForPeople(serving, settings.worker.peopleShare),
    weights: new Map(weights),
    shares,
    lowAgeMs,
  };
}

/** Slots of a worker that only critical tasks use. */
function keptForCritical(worker: WorkerRecord, criticalShare: number): number {
  if (worker.queues.length < 2 || !takesFrom(worker, 'critical')) return 0;
  return worker.sure?.['critical'] ?? Math.ceil((worker.slots ?? 0) * criticalShare);
}

function sumOf(workers: readonly WorkerRecord[], figure: (worker: WorkerRecord) => number): number {
  return workers.reduce((sum, worker) => sum + figure(worker), 0);
}

/** Slots of these workers that only people use. */
export function keptForPeople(workers: readonly WorkerRecord[], peopleShare: number): number {
  const serving = workers.filter((each) => each.queues.length > 1 && takesFrom(each, 'chat'));
  return serving.reduce((sum, { slots }) => sum + peopleSlots(slots ?? 0, peopleShare), 0);
}
