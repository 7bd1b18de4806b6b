import type { Ledger } from '../ledger/index.ts';
import { kindOf } from './permits/fleet-permits.ts';
import { readRoom, type FleetRoom } from './permits/read-room.ts';
import { ticketsBefore, ticketsBeforeInFleet } from './tickets-before.ts';
import type { Queues } from './queues.ts';
import type { Waiting, WaitGate, WaitingTask } from './wait-reason.ts';

/** Why a task that holds a ticket has not started: its queue is paused, nobody serves it, the fleet is full, or others are before it. */
export async function explainQueue(parts: { ledger: Ledger; queues: Queues }, { body, state }: WaitingTask): Promise<Waiting> {
  const { ledger, queues } = parts;
  const name = state.queue;
  const shard = ledger.keys.shardOf(body.tenant);
  const queue = queues.get(shard, name);
  const [isPaused, workers, room, inQueue] = await Promise.all([
    queue.isPaused(),
    // A managed Redis may refuse to list its clients; then nobody knows, and the count says more than a guess.
    queue.getWorkersCount().catch(() => null),
    readRoom(ledger, kindOf(name)),
    ticketsBefore(queue, state.priority),
  ]);
  const reason = (gate: WaitGate, detail: string, ahead: number): Waiting => ({
    reasons: [{ gate, detail, since: state.queuedAt ?? state.createdAt, until: null, taskId: null }],
    ahead,
  });
  // Its own ticket is among them, unless it is on its way.
  const ahead = Math.max(0, inQueue - 1);
  if (isPaused) return reason('paused', `queue "${name}" is paused`, ahead);
  if (workers === 0) return reason('worker', `no worker serves the queue "${name}"`, ahead);
  if (!room.isFull) return reason('queue', `waiting for a free slot in queue "${name}", about ${ahead} tickets in front`, ahead);
  const inFleet = Math.max(0, (await ticketsBeforeInFleet(queues, name, state.priority)) - 1);
  return reason('fleet', fleetDetail(room, name, inFleet), inFleet);
}

function fleetDetail({ running, cap, kept }: FleetRoom, queue: string, ahead: number): string {
  const share = kept > 0 && kindOf(queue) === 'ordinary' ? `, ${kept} of them kept for critical tasks` : '';
  return `fleet cap ${running}/${cap}${share}${ahead > 0 ? `, about ${ahead} tickets in front` : ''}`;
}
