import { parentPort, workerData } from 'node:worker_threads';
import { dropBlame, writeBlame } from '#shared/ledger/claim/blame.ts';
import { createLog } from '#shared/log/create-log.ts';
import { connectRedis, type RedisClient } from '#shared/redis/connect-redis.ts';
import { createKeys } from '#shared/redis/keys.ts';
import { within } from '#shared/time/wait.ts';
import { findCulprit } from '#shared/execution/attempt/current-attempt.ts';
import type { WatchdogData, WatchdogNotice } from './watchdog.ts';

// The thread of a watchdog: it runs beside the event loop of its process, and needs nothing of it. It imports files and not doors: each worker
// loads them a second time for it.

const POLL_MS = 250;
/** A later poll means that this thread was frozen itself, as in a stopped process: then nothing is known. */
const FROZEN_MS = 2000;
/** Before a process ends for a block without a culprit, the culprit may still be found for so long. */
const LAST_LOOK_MS = 10_000;
/** The reclaimer has taken back what ran here by then. */
const KEEP_AFTER_MS = 5000;

const data: WatchdogData = workerData;
const beats = new Int32Array(data.beats);
const acknowledged = new Int32Array(data.acknowledged);
const keys = createKeys(data.shards);
const log = createLog({ level: 'silent', service: 'watchdog' });
let connection: RedisClient | undefined;
const redis = (): RedisClient => (connection ??= connectRedis({ url: data.redisUrl, name: 'watchdog', log }));

let [lastBeat, lastAt, polledAt] = [Atomics.load(beats, 0), performance.now(), performance.now()];
interface Block {
  member: string | null;
  /** Resolves when `member` is known. */
  isKnown: Promise<void>;
}

/** The block under way, with the attempt that caused it once that is known; undefined while the loop runs. */
let block: Block | undefined;

const notify = (notice: WatchdogNotice): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the port of a thread has no origin
  parentPort?.postMessage(notice);
};
const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

async function onBlocked(blockedMs: number): Promise<void> {
  const current = (block ??= beginBlock());
  const isLast = data.maxBlockedMs !== null && blockedMs >= data.maxBlockedMs;
  if (isLast) await within(current.isKnown, LAST_LOOK_MS);
  // The loop is free again.
  if (block !== current) return;
  const message = await record(current.member, blockedMs);
  if (!isLast) return;
  process.stderr.write(`muster: ${message}; this process ends, because it cannot do anything any more\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** Records the culprit when it is found: on a loaded machine, or behind a synchronous call of the system, after some seconds only. */
function beginBlock(): Block {
  const begun: Block = { member: null, isKnown: Promise.resolve() };
  const look = async (): Promise<void> => {
    begun.member = await findCulprit();
    if (block === begun) await record(begun.member, performance.now() - lastAt);
  };
  begun.isKnown = look().catch(() => undefined);
  return begun;
}

async function record(member: string | null, blockedMs: number): Promise<string> {
  const message = `${member === null ? 'its event loop was blocked' : 'a task blocked its event loop'} for ${seconds(blockedMs)}`;
  await writeBlame(redis(), keys, data.worker, { member, message });
  return message;
}

function onFree(blockedMs: number): void {
  const member = block?.member ?? null;
  block = undefined;
  notify({ kind: 'blocked', member, blockedMs });
  setTimeout(() => void dropBlame(redis(), keys, data.worker).catch(() => undefined), KEEP_AFTER_MS);
}

function poll(): void {
  const now = performance.now();
  const beat = Atomics.load(beats, 0);
  const wasFrozen = now - polledAt > FROZEN_MS;
  polledAt = now;
  const blockedMs = now - lastAt;
  if (wasFrozen || beat !== lastBeat) {
    if (block && beat !== lastBeat) onFree(blockedMs);
    [lastBeat, lastAt] = [beat, now];
    return;
  }
  if (blockedMs >= data.blockedMs) void onBlocked(blockedMs).catch(() => undefined);
}

setInterval(poll, POLL_MS);
notify({ kind: 'watching' });

parentPort?.on('message', ({ member, code }: { member: string; code: number }) => {
  const message = `a task ended its process with code ${code}`;
  void writeBlame(redis(), keys, data.worker, { member, message })
    .catch(() => undefined)
    .finally(() => {
      Atomics.store(acknowledged, 0, 1);
      Atomics.notify(acknowledged, 0);
    });
});
