import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Settings } from '../../config/index.ts';
import { DATA_FORM, type Keys, loadScripts, pairs, type RedisClient, redisNow, runScript, type Script } from '../../redis/index.ts';
import { groupNote, parseReport, type WorkerReport, type WorkerReportToWrite } from './worker-report.ts';

export interface RegistryPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
}

/**
 * - `alive`: it does not report what it runs, as in an earlier release
 * - `idle`, `busy`: it runs nothing, or something
 * - `draining`: it takes nothing more, or was requested to
 * - `dead`: it missed `worker.deadHeartbeatThreshold` heartbeats
 */
export const WORKER_STATUSES = ['alive', 'idle', 'busy', 'draining', 'dead'] as const;
export type WorkerStatus = (typeof WORKER_STATUSES)[number];

export interface WorkerRecord extends Omit<WorkerReport, 'isDraining'> {
  id: string;
  status: WorkerStatus;
  /** By Redis's clock, ms since the epoch. */
  lastBeatAt: number;
  /** By Redis's clock, ms since the epoch; null without a request. */
  drainRequestedAt: number | null;
}

/** What a worker learns with its heartbeat. */
export interface BeatAnswer {
  isDrainRequested: boolean;
  /** Whether the fleet had marked it as dead. */
  wasDead: boolean;
}

/** Writes a worker's heartbeat, by Redis's clock, with its report and the form of the data that it writes. */
export async function beat({ redis, keys }: RegistryPorts, worker: string, report: WorkerReportToWrite): Promise<BeatAnswer> {
  const { workers, deadWorkers, workerNotes, workerDrains, workerGroups } = keys.fleet;
  const now = await redisNow(redis);
  const note = groupNote(report);
  const transaction = redis
    .multi()
    .zadd(workers, now, worker)
    .zrem(deadWorkers, worker)
    .hset(workerNotes, worker, JSON.stringify({ ...report, form: DATA_FORM }))
    .hexists(workerDrains, worker);
  if (note) transaction.hset(workerGroups, ...note);
  const results = await transaction.exec();
  const [, dead, , drain] = repliesOf(results);
  return { isDrainRequested: drain === 1, wasDead: dead === 1 };
}

/** The replies of a transaction. Throws the first error of its commands. */
function repliesOf(results: [error: Error | null, reply: unknown][] | null): unknown[] {
  return (results ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
}

/** Removes a worker that ends. Returns whether it was there. */
export async function removeWorker({ redis, keys }: RegistryPorts, worker: string): Promise<boolean> {
  const { workers, deadWorkers, workerNotes, workerDrains } = keys.fleet;
  const transaction = redis.multi().zrem(workers, worker).zrem(deadWorkers, worker);
  const [removed] = repliesOf(await transaction.hdel(workerNotes, worker).hdel(workerDrains, worker).exec());
  return removed === 1;
}

/** All workers that are known, the last heartbeat first, dead ones at the end; at most `fleet.maxWorkers`. */
export async function listWorkers(ports: RegistryPorts): Promise<WorkerRecord[]> {
  const { redis, keys, settings } = ports;
  const last = settings.fleet.maxWorkers - 1;
  const [live, dead] = await Promise.all([
    redis.zrevrange(keys.fleet.workers, 0, last, 'WITHSCORES'),
    redis.zrevrange(keys.fleet.deadWorkers, 0, last, 'WITHSCORES'),
  ]);
  // A worker that came back between the two reads is in both.
  const beats = new Map([...pairs(dead), ...pairs(live)]);
  const ids = [...new Set([...pairs(live), ...pairs(dead)].map(([id]) => id))];
  return await readRecords(
    ports,
    ids.slice(0, last + 1).map((id) => ({ id, lastBeatAt: Number(beats.get(id)) })),
  );
}

/** One worker; null for an unknown one. */
export async function readWorker(ports: RegistryPorts, id: string): Promise<WorkerRecord | null> {
  const { redis, keys } = ports;
  const [live, dead] = await Promise.all([redis.zscore(keys.fleet.workers, id), redis.zscore(keys.fleet.deadWorkers, id)]);
  const score = live ?? dead;
  if (score === null) return null;
  const [record] = await readRecords(ports, [{ id, lastBeatAt: Number(score) }]);
  return record ?? null;
}

/** Workers that are read to find another one: hubs may be among them. */
const MAX_OTHERS = 20;

/** The tasks of a worker that is dead for so long are back. */
const LOST_MS = 300_000;

/** Whether the fleet has another worker besides `worker`, or had one until lately: its tasks may come back here. */
export async function hasOtherWorker(ports: RegistryPorts, worker: string): Promise<boolean> {
  const { redis, keys } = ports;
  const { workers, deadWorkers } = keys.fleet;
  const since = (await redisNow(redis)) - LOST_MS;
  const [live, dead] = await Promise.all([
    redis.zrevrange(workers, 0, MAX_OTHERS),
    redis.zrevrangebyscore(deadWorkers, '+inf', since, 'LIMIT', 0, MAX_OTHERS),
  ]);
  const ids = [...live, ...dead];
  const others = await readRecords(
    ports,
    ids.filter((id) => id !== worker).map((id) => ({ id, lastBeatAt: 0 })),
  );
  return others.some(({ role }) => role === 'worker');
}

/** A worker whose report cannot be read is left out. */
async function readRecords(
  { redis, keys, settings }: RegistryPorts,
  beats: readonly { id: string; lastBeatAt: number }[],
): Promise<WorkerRecord[]> {
  if (beats.length === 0) return [];
  const ids = beats.map(({ id }) => id);
  const [now, notes, drains] = await Promise.all([
    redisNow(redis),
    redis.hmget(keys.fleet.workerNotes, ...ids),
    redis.hmget(keys.fleet.workerDrains, ...ids),
  ]);
  return beats.flatMap(({ id, lastBeatAt }, position) => {
    const parsed = parseReport(notes[position] ?? '');
    if (parsed === null) return [];
    const { isDraining, ...report } = parsed;
    const drain = drains[position] ?? null;
    const drainRequestedAt = drain === null ? null : Number(drain);
    const isDead = now - lastBeatAt >= silentMs(settings);
    const status = isDead ? 'dead' : statusOf(report.running, isDraining || drain !== null);
    return [{ ...report, id, status, lastBeatAt, drainRequestedAt }];
  });
}

function statusOf(running: number | null, isDraining: boolean): WorkerStatus {
  if (isDraining) return 'draining';
  if (running === null) return 'alive';
  return running > 0 ? 'busy' : 'idle';
}

/** How long a worker without a heartbeat counts as alive. */
export function silentMs({ worker }: Settings): number {
  return worker.heartbeatIntervalMs * worker.deadHeartbeatThreshold;
}

/** Workers that one call marks. */
const MARK_MAX = 100;

let script: Script | undefined;

/** Marks workers without a heartbeat as dead, and drops records that are kept no longer. Returns each dead worker once in the fleet. */
export async function markDeadWorkers({ redis, keys, settings }: RegistryPorts): Promise<string[]> {
  script ??= loadScripts(fileURLToPath(new URL('../scripts', import.meta.url))).get('mark-dead-workers');
  if (!script) throw new Error('The script mark-dead-workers is missing');
  const { workers, deadWorkers, workerNotes, workerDrains } = keys.fleet;
  const { deadRetentionMs, maxWorkers } = settings.fleet;
  const args = [silentMs(settings), deadRetentionMs, maxWorkers, MARK_MAX];
  return z.array(z.string()).parse(await runScript(redis, script, [workers, deadWorkers, workerNotes, workerDrains], args));
}

const DRAIN = 'drain ';

/**
 * Requests that a worker takes nothing more and ends once its work has. It obeys at once, or at its next heartbeat when the message is
 * lost. Returns its record; null for a worker that is not known.
 */
export async function requestDrain(ports: RegistryPorts, id: string): Promise<WorkerRecord | null> {
  const { redis, keys } = ports;
  if ((await readWorker(ports, id)) === null) return null;
  await redis.hsetnx(keys.fleet.workerDrains, id, await redisNow(redis));
  await redis.publish(keys.fleet.drainSignal, `${DRAIN}${id}`);
  return await readWorker(ports, id);
}

/** The worker that a message of `drainSignal` is for; null for another message. */
export function parseDrainSignal(message: string): string | null {
  return message.startsWith(DRAIN) ? message.slice(DRAIN.length) : null;
}
