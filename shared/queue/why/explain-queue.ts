import type { Level } from '../../ledger/index.ts';
import type { FleetRoom } from '../registry/fleet-room.ts';
import { explainUnserved } from '../registry/unserved-queues.ts';
import { takesFrom } from '../registry/offered-slots.ts';
import type { WorkerRecord } from '../registry/worker-registry.ts';
import { HELPS } from './helps.ts';
import type { TaskFront } from './front.ts';
import { type FleetFacts, limitedMs } from './read-facts.ts';
import { keptForPeople } from './slot-supply.ts';
import { closedGate, type GateReport, openGate, type WaitingTask } from './wait-reason.ts';
import { timeText } from '../../time/index.ts';

const NOT_REACHED = 'it comes to this once it has a grant';

/** The gates between a task's grant and its start, in the order in which a reason is looked for. */
export function explainQueue(facts: FleetFacts, task: WaitingTask, front: TaskFront): GateReport[] {
  const gates = [
    pausedGate(facts, task),
    workerGate(facts, task),
    turnGate(facts, task, front.inFleet),
    outboxGate(facts, task),
    rateGate(facts, task, front.inQueue),
    fleetGate(facts, task, front.inFleet),
  ];
  const isHeld = gates.some(({ state }) => state === 'closed');
  return [...gates, queueGate(facts, task, front, isHeld)];
}

function sinceGrant({ state }: WaitingTask): number {
  return state.queuedAt ?? state.createdAt;
}

function pausedGate({ isPaused }: FleetFacts, task: WaitingTask): GateReport {
  const name = task.state.queue;
  if (!isPaused) return openGate('paused', `queue "${name}" is not paused`);
  return closedGate('paused', { detail: `queue "${name}" is paused`, helps: HELPS.paused, since: sinceGrant(task) });
}

function workerGate({ workers, room, criticalShare, peopleShare }: FleetFacts, task: WaitingTask): GateReport {
  const name = task.state.queue;
  const unserved = explainUnserved(workers, name);
  if (unserved !== null)
    return closedGate('worker', { detail: unserved, helps: HELPS.worker, since: sinceGrant(task), facts: { workers: 0 } });
  const serving = workers.filter((worker) => takesFrom(worker, name));
  const slots = sumOf(serving, (worker) => worker.slots);
  const onServing = slots - sumOf(serving, (worker) => worker.running);
  // Where more runs than is read, the count of the fleet is exact.
  const inFleet =
    sumOf(
      workers.filter((worker) => takesFrom(worker, null)),
      (worker) => worker.slots,
    ) - room.running;
  const kept =
    name === 'critical' ? 0 : sumOf(serving.filter(keepsSlots), ({ slots: own }) => Math.max(1, Math.ceil((own ?? 0) * criticalShare)));
  const free = Math.max(0, Math.min(onServing, inFleet));
  const forPeople = name === 'critical' || name === 'chat' ? 0 : keptForPeople(serving, peopleShare);
  const facts = { workers: serving.length, slots, free, kept, keptForPeople: forPeople };
  const who = serving.length === 1 ? '1 worker serves' : `${serving.length} workers serve`;
  const parts = [
    ...(kept > 0 ? [`${kept} of them kept for critical tasks`] : []),
    ...(forPeople > 0 ? [`${forPeople} for people who wait`] : []),
  ];
  const forOthers = parts.length > 0 ? `, ${parts.join(' and ')}` : '';
  return openGate('worker', `${who} queue "${name}" with ${slots} slots${forOthers}; ${free} are free`, facts);
}

/** Whether the worker also serves `critical`, for which it keeps slots. */
function keepsSlots(worker: WorkerRecord): boolean {
  return worker.queues.length > 1 && takesFrom(worker, 'critical');
}

function sumOf(workers: readonly WorkerRecord[], figure: (worker: WorkerRecord) => number | null): number {
  return workers.reduce((sum, worker) => sum + (figure(worker) ?? 0), 0);
}

function turnGate({ turn, own }: FleetFacts, task: WaitingTask, ahead: number): GateReport {
  const { priority, granted } = task.state;
  if (turn === null) return openGate('turn', granted ? 'a slot has it' : NOT_REACHED);
  const place = `place ${turn.ahead + 1} of its tenant's ${turn.ready} ready tasks of priority ${priority}`;
  const line = own.lines.find(({ tenant }) => tenant === task.body.tenant);
  const facts = {
    tenantPlace: turn.ahead + 1,
    tenantReady: turn.ready,
    fleetPlace: ahead + 1,
    fleetReady: readyOf(own.levels, task),
    tenants: turn.tenants,
    weight: line?.weight ?? 1,
  };
  if (turn.tenants <= 1) return openGate('turn', `${place}; no other tenant waits there`, facts);
  const detail = `${place}; ${turn.tenants} tenants take turns; place ${ahead + 1} in the fleet`;
  return closedGate('turn', { detail, helps: HELPS.turn, since: sinceGrant(task), facts });
}

function readyOf(levels: readonly Level[], { state }: WaitingTask): number {
  return levels.reduce((sum, { queue, ready }) => (queue === state.queue ? sum + ready : sum), 0);
}

function outboxGate({ turn, own }: FleetFacts, task: WaitingTask): GateReport {
  const { entries } = own.outbox;
  const facts = { waiting: entries };
  if (!task.state.granted) return openGate('outbox', NOT_REACHED, facts);
  if (turn !== null) return openGate('outbox', 'it stands in its line', facts);
  return closedGate('outbox', {
    detail: 'a slot has it and looks whether it may start',
    helps: HELPS.outbox,
    since: sinceGrant(task),
    facts,
  });
}

function rateGate({ limited, skewMs }: FleetFacts, task: WaitingTask, ahead: number): GateReport {
  const name = task.state.queue;
  const leftMs = limitedMs(limited, ahead);
  if (limited === null || leftMs <= 0) return openGate('rate', `queue "${name}" may start another`);
  const until = Date.now() - skewMs + leftMs;
  const pace = `its limiter lets ${limited.max} start in ${limited.durationMs} ms`;
  const detail = `queue "${name}" waits for its limiter: ${pace}, so it may start from ${timeText(until)} on`;
  return closedGate('rate', { detail, helps: HELPS.rate, since: sinceGrant(task), until, facts: { leftMs, ahead } });
}

function fleetGate({ room }: FleetFacts, task: WaitingTask, ahead: number): GateReport {
  const { running, cap, reserved, isFull } = room;
  const facts = { running, cap, reserved };
  const words = fleetDetail(room, task.state.queue);
  if (!isFull) return openGate('fleet', words, facts);
  const inFront = ahead > 0 ? `, about ${ahead} tickets in front` : '';
  return closedGate('fleet', { detail: `${words}${inFront}`, helps: HELPS.fleet, since: sinceGrant(task), facts: { ...facts, ahead } });
}

function fleetDetail({ running, cap, reserved }: FleetRoom, queue: string): string {
  const share = reserved > 0 && queue !== 'critical' ? `, ${reserved} of them kept for critical tasks` : '';
  return `fleet cap ${running}/${cap}${share}`;
}

function queueGate({ turn }: FleetFacts, task: WaitingTask, { inQueue, inFleet }: TaskFront, isHeld: boolean): GateReport {
  const name = task.state.queue;
  const facts = { place: inQueue + 1, fleetPlace: inFleet + 1 };
  if (!task.state.granted) return openGate('queue', `about ${inQueue} tickets would be in front of it in queue "${name}"`, facts);
  if (turn === null) return openGate('queue', 'a slot has it', facts);
  const detail = `waiting for a free slot in queue "${name}", about ${inQueue} tickets in front`;
  if (isHeld && inQueue === 0) return openGate('queue', `it is next in queue "${name}"`, facts);
  return closedGate('queue', { detail, helps: HELPS.queue, since: sinceGrant(task), facts });
}
