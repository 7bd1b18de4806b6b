import { TASK_QUEUES } from '../../config/index.ts';
import { type Ledger, readTurn, type Turn } from '../../ledger/index.ts';
import { type FleetRoom, kindOf, readRoom } from '../permits/lease-permits.ts';
import type { QueueName } from '../queue-names.ts';
import type { Queues, TicketQueue } from '../queues.ts';
import { readUnserved } from '../registry/unserved-queues.ts';
import { bullPriority } from '../tickets/ticket.ts';
import type { WaitGate, Waiting, WaitingTask } from './wait-reason.ts';

/** Why a granted task has not started: its queue is paused, no worker serves it, its turn is to come, the fleet is full, or others are before it. */
export async function explainQueue(parts: { ledger: Ledger; queues: Queues }, { body, state }: WaitingTask): Promise<Waiting> {
  const { ledger, queues } = parts;
  const name = state.queue;
  const shard = ledger.keys.shardOf(body.tenant);
  const queue = queues.get(shard, name);
  const [isPaused, unserved, room, inQueue, turn] = await Promise.all([
    queue.isPaused(),
    readUnserved(ledger, name),
    readRoom(ledger, kindOf(name)),
    ticketsBefore(queue, state.priority),
    readTurn(ledger, body.tenant, body.id, state),
  ]);
  const reason = (gate: WaitGate, detail: string, ahead: number): Waiting => ({
    reasons: [{ gate, detail, since: state.queuedAt ?? state.createdAt, until: null, taskId: null }],
    ahead,
  });
  // Its own ticket is among them, unless its turn is still to come or the relay has not added it yet.
  const ahead = turn === null ? Math.max(0, inQueue - 1) : inQueue + turn.ahead * turn.tenants;
  if (isPaused) return reason('paused', `queue "${name}" is paused`, ahead);
  if (unserved !== null) return reason('worker', unserved, ahead);
  if (turn !== null) return reason('turn', turnDetail(turn, state.priority), ahead);
  if (!room.isFull) return reason('queue', `waiting for a free slot in queue "${name}", about ${ahead} tickets in front`, ahead);
  const inFleet = Math.max(0, (await ticketsBeforeInFleet(queues, name, state.priority)) - 1);
  return reason('fleet', fleetDetail(room, name, inFleet), inFleet);
}

function turnDetail({ ahead, ready, tenants }: Turn, priority: number): string {
  const place = `place ${ahead + 1} of its tenant's ${ready} ready tasks of priority ${priority}`;
  return tenants > 1 ? `${place}; ${tenants} tenants take turns` : place;
}

function fleetDetail({ running, cap, reserved }: FleetRoom, queue: string, ahead: number): string {
  const share = reserved > 0 && kindOf(queue) === 'ordinary' ? `, ${reserved} of them kept for critical tasks` : '';
  return `fleet cap ${running}/${cap}${share}${ahead > 0 ? `, about ${ahead} tickets in front` : ''}`;
}

/** How many tickets a queue gives out before the last one of this priority, that one included. */
export async function ticketsBefore(queue: TicketQueue, priority: number): Promise<number> {
  const better = Array.from({ length: bullPriority(priority) }, (_, position) => position + 1);
  const [waiting, byPriority] = await Promise.all([queue.getWaitingCount(), queue.getCountsPerPriority(better)]);
  return Object.values(byPriority).reduce((sum, each) => sum + each, waiting);
}

/** The same over all queues and shards, for a fleet that is full: critical tickets go first, then priority counts. */
async function ticketsBeforeInFleet(queues: Queues, name: QueueName, priority: number): Promise<number> {
  const counts = queues.all().map(async ({ name: other, queue }) => {
    if (!TASK_QUEUES.some((each) => each === other)) return 0;
    const isCritical = kindOf(other) === 'critical';
    if (isCritical !== (kindOf(name) === 'critical')) return isCritical ? await ticketsBefore(queue, 1) : 0;
    return await ticketsBefore(queue, priority);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
