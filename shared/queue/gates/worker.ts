import { TASK_QUEUES } from '../../config/index.ts';
import { HOLD_ORDER, type HoldKind, type HoldReport } from '../../ledger/index.ts';
import { explainUnserved } from '../registry/unserved-queues.ts';
import { takesFrom } from '../registry/offered-slots.ts';
import { listWorkers, type RegistryPorts, type WorkerRecord } from '../registry/worker-registry.ts';
import { keptForPeople } from '../why/start-scene.ts';
import { closedGate, type GateReport, openGate, sinceGrant } from '../why/wait-reason.ts';
import type { AtSlot, SlotKind } from './gate-kinds.ts';

const WORKER: HoldKind & SlotKind = {
  gate: 'worker',
  sort: 'hold',
  waits:
    'because no worker serves its queue, or all that do are draining; once operators were notified of that, it leaves its places as well',
  limit: 'none',
  order: HOLD_ORDER,
  opens: 'a worker that serves the queue',
  helps: 'An operator has to start a worker that serves this queue.',
  foreseen: 'never',
  inChat: () => 'waits: no worker serves its queue now',
  atSlot: explainServed,
};

/** The gate of queues that no worker serves. */
export function workerKind(ports: RegistryPorts): HoldKind & SlotKind {
  return { ...WORKER, explain: async (_tenant, queue) => await explainHeldForWorker(ports, queue) };
}

/** What a task waits for that is held because no worker serves its queue. */
async function explainHeldForWorker(ports: RegistryPorts, queue: string): Promise<HoldReport> {
  const name = TASK_QUEUES.find((each) => each === queue);
  const unserved = name === undefined ? null : explainUnserved(await listWorkers(ports), name);
  const detail = unserved ?? `a worker serves the queue "${queue}" again; the task goes on within seconds`;
  return { detail, facts: {}, until: null };
}

function explainServed({ facts: { workers, room, criticalShare, peopleShare }, task }: AtSlot): GateReport {
  const name = task.state.queue;
  const unserved = explainUnserved(workers, name);
  if (unserved !== null)
    return closedGate('worker', { detail: unserved, helps: WORKER.helps, since: sinceGrant(task), facts: { workers: 0 } });
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
