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
import { clockSkew, redisNow } from '../../redis/index.ts';
import { systemClock } from '../../time/index.ts';
import type { Queues } from '../queues.ts';
import { countVersion } from '../registry/foreign-agents.ts';
import { type FleetRoom, readRoom } from '../registry/fleet-room.ts';
import { withRunning } from '../registry/busy-workers.ts';
import { listWorkers, type WorkerRecord } from '../registry/worker-registry.ts';
import { readFleetTimes } from './service-costs.ts';
import type { WaitingTask } from './wait-reason.ts';

export interface WhyPorts {
  ledger: Ledger;
  queues: Queues;
}

/** What the fleet has to do with a task that waits, as it is now. */
export interface FleetFacts {
  isPaused: boolean;
  /** With what they run by `running`. */
  workers: WorkerRecord[];
  room: FleetRoom;
  /** Of the slots of a worker that also serves `critical`, the share that only critical tasks may use. */
  criticalShare: number;
  /** Of the slots of a worker that serves `chat` beside others, those that only people use at most. */
  peopleShare: number;
  /** Null for a task that a slot has, and for one without a grant. */
  turn: Turn | null;
  /** Ready tickets of its tenant and priority that are older. */
  readyBefore: number;
  /** What waits on the task's shard, with the turns of its level, and on the others. */
  own: ShardLevels;
  others: ShardLevels[];
  /** What runs, as far as it is read. */
  running: RunningTask[];
  /** What the queue's limiter allows; null without one. */
  limited: StartLimit | null;
  skewMs: number;
  /** Configurations of workers that have the version that its run began with, and others; null for a task without one. */
  version: { having: number; others: number } | null;
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
  const [isPaused, workers, room, turn, readyBefore, own, onOthers, byShard, limited, skewMs, times, fleetTimes, version] =
    await Promise.all([
      queue.isPaused(),
      listWorkers(ledger),
      readRoom(ledger, name),
      readTurn(ledger, body.tenant, body.id, state),
      countReadyBefore(ledger, body.tenant, body.id, state),
      readLevels(ledger, shard, state),
      Promise.all(others.map((each) => readLevels(ledger, each, state))),
      Promise.all(shards.map((each) => listRunning(ledger, each, MAX_RUNNING))),
      readLimit(ledger, shard, task),
      clockSkew(redis, systemClock),
      readServiceTimes(ledger, body.tenant),
      readFleetTimes(ledger),
      state.version === undefined ? null : countVersion(ledger, state.agent, state.version),
    ]);
  const running = byShard.flat();
  return {
    isPaused,
    workers: workers.map((worker) => withRunning(worker, running)),
    room,
    criticalShare: settings.limits.criticalShare,
    peopleShare: settings.worker.peopleShare,
    turn,
    readyBefore,
    own,
    others: onOthers,
    running,
    limited,
    skewMs,
    times,
    fleetTimes,
    version,
  };
}

/** How many tasks of a queue may start in each span. */
export interface StartLimit {
  max: number;
  durationMs: number;
  /** Starts that the present span still allows, and how long it lasts, ms. */
  left: number;
  endsInMs: number;
}

async function readLimit(ledger: Ledger, shard: number, { state: { queue } }: WaitingTask): Promise<StartLimit | null> {
  const { redis, keys, settings } = ledger;
  const limiter = settings.queues[queue]?.limiter;
  if (!limiter) return null;
  const [text, now] = await Promise.all([redis.hget(`${keys.shard(shard).jobs}:starts`, queue), redisNow(redis)]);
  const [ends = 0, count = 0] = (text ?? '0/0').split('/').map(Number);
  const isOver = ends <= now;
  return { ...limiter, left: Math.max(0, limiter.max - (isOver ? 0 : count)), endsInMs: isOver ? 0 : ends - now };
}

/** How long the limiter keeps a task with so many of its queue in front, ms. */
export function limitedMs(limit: StartLimit | null, ahead: number): number {
  if (limit === null || ahead < limit.left) return 0;
  return limit.endsInMs + Math.floor((ahead - limit.left) / limit.max) * limit.durationMs;
}
