import {
  countReadyBefore,
  type Ledger,
  listRunning,
  readLevels,
  readTurn,
  type RunningTask,
  type ShardLevels,
  type Turn,
} from '../../ledger/index.ts';
import { readServiceTimes, type StoredFamily, type TenantTimes } from '../../metrics/index.ts';
import { clockSkew } from '../../redis/index.ts';
import { systemClock } from '../../time/index.ts';
import { type FleetRoom, kindOf, readRoom } from '../permits/lease-permits.ts';
import type { Queues, TicketQueue } from '../queues.ts';
import { listWorkers, type WorkerRecord } from '../registry/worker-registry.ts';
import { ticketId } from '../tickets/ticket.ts';
import { readFleetTimes } from './service-costs.ts';
import type { WaitingTask } from './wait-reason.ts';

export interface WhyPorts {
  ledger: Ledger;
  queues: Queues;
}

/** What the fleet has to do with a task that waits, as it is now. */
export interface FleetFacts {
  isPaused: boolean;
  workers: WorkerRecord[];
  room: FleetRoom;
  /** Of the slots of a worker that also serves `critical`, the share that only critical tasks may use. */
  criticalShare: number;
  ticket: TicketPlace;
  /** Null for a task whose ticket is out, and for one without a grant. */
  turn: Turn | null;
  /** Ready tickets of its tenant and priority that are older. */
  readyBefore: number;
  /** What waits on the task's shard, with the turns of its level, and on the others. */
  own: ShardLevels;
  others: ShardLevels[];
  /** What runs, as far as it is read. */
  running: RunningTask[];
  /** Until the queue's limiter allows another start, ms; 0 while it does, or without one. */
  limitedMs: number;
  skewMs: number;
  /** How long attempts of the tenant's agents hold a slot, and those of each queue and band. */
  times: TenantTimes;
  fleetTimes: readonly StoredFamily[];
}

/** Running tasks of a shard that are read; among more of them, those that run for long matter little. */
const MAX_RUNNING = 500;

/** Reads all of it at once. */
export async function readFacts({ ledger, queues }: WhyPorts, task: WaitingTask): Promise<FleetFacts> {
  const { redis, keys, settings } = ledger;
  const { body, state } = task;
  const name = state.queue;
  const shard = keys.shardOf(body.tenant);
  const queue = queues.get(shard, name);
  const shards = Array.from({ length: keys.shards }, (_, each) => each);
  const others = shards.filter((each) => each !== shard);
  const limiter = settings.queues[name]?.limiter;
  const [isPaused, workers, room, ticket, turn, readyBefore, own, onOthers, running, limitedMs, skewMs, times, fleetTimes] =
    await Promise.all([
      queue.isPaused(),
      listWorkers(ledger),
      readRoom(ledger, kindOf(name)),
      findTicket(queue, task),
      readTurn(ledger, body.tenant, body.id, state),
      countReadyBefore(ledger, body.tenant, body.id, state),
      readLevels(ledger, shard, state),
      Promise.all(others.map((each) => readLevels(ledger, each, state))),
      Promise.all(shards.map((each) => listRunning(ledger, each, MAX_RUNNING))),
      limiter === undefined ? 0 : queue.getRateLimitTtl(limiter.max),
      clockSkew(redis, systemClock),
      readServiceTimes(ledger, body.tenant),
      readFleetTimes(ledger),
    ]);
  return {
    isPaused,
    workers,
    room,
    criticalShare: settings.limits.criticalShare,
    ticket,
    turn,
    readyBefore,
    own,
    others: onOthers,
    running: running.flat(),
    limitedMs: Math.max(0, limitedMs),
    skewMs,
    times,
    fleetTimes,
  };
}

/** Where BullMQ has a task's ticket: waiting at a place from 0, elsewhere, or nowhere. */
export type TicketPlace = { kind: 'waiting'; place: number } | { kind: 'elsewhere'; state: string } | { kind: 'missing' };

/** Waiting tickets that are searched; a window is smaller unless workers offer more slots. */
const SEARCHED = 2000;

async function findTicket(queue: TicketQueue, { body, state }: WaitingTask): Promise<TicketPlace> {
  if (state.granted !== true) return { kind: 'missing' };
  const id = ticketId(body.id, state.ticket);
  const [waiting, found] = await Promise.all([queue.getRanges(['waiting', 'prioritized'], 0, SEARCHED - 1, true), queue.getJobState(id)]);
  const place = waiting.indexOf(id);
  if (place >= 0) return { kind: 'waiting', place };
  if (found === 'unknown') return { kind: 'missing' };
  const isWaiting = found === 'waiting' || found === 'prioritized';
  return isWaiting ? { kind: 'waiting', place: SEARCHED } : { kind: 'elsewhere', state: found };
}
