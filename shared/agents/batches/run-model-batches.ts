import pMap from 'p-map';
import { classifyFailure, TaskFailure } from '../../errors/index.ts';
import { readEntry } from '../../ledger/index.ts';
import { type BatchedRequest, batchWaitOf, customIdOf, type ModelBatch, type WaitingRequest } from '../../providers/index.ts';
import { isRedisUnavailable, redisNow } from '../../redis/index.ts';
import { newTaskId } from '../../tasks/index.ts';
import type { BatchPorts } from './answer-request.ts';
import { BATCH_ENDPOINT, type BatchClient } from './batch-client.ts';
import { dropFiles } from './drop-files.ts';
import { endAll, stillWaiting } from './end-requests.ts';
import { followBatch } from './follow-batch.ts';

export interface RunBatchesPorts extends BatchPorts {
  /** The client of whom a batch calls; fails with a `TaskFailure` where its agent or key is there no more. */
  readonly clientOf: (target: ModelBatch['record']['target']) => Promise<BatchClient>;
}

/** Batches that one round looks at. */
const MAX_PER_ROUND = 20;
/** Requests that are read or answered at once. */
const TOGETHER = 16;

/**
 * Makes batches of the requests that wait long enough, and takes each batch that is due a step further. What a process that dies leaves is for the next.
 * Returns when something is due, ms from now, where that is soon.
 */
export async function runModelBatches(ports: RunBatchesPorts, signal: AbortSignal): Promise<number | undefined> {
  let dueInMs = ROUND_MS;
  for (const [group, target] of await ports.store.targets()) {
    if (signal.aborted) return undefined;
    dueInMs = Math.min(dueInMs, await gather(ports, group, target));
  }
  for (const id of await ports.store.takeDue(MAX_PER_ROUND)) {
    if (signal.aborted) await ports.store.lookIn(id, 0);
    else await step(ports, id);
  }
  dueInMs = Math.min(dueInMs, await ports.store.dueInMs());
  return dueInMs < ROUND_MS ? Math.max(MIN_ROUND_MS, dueInMs) : undefined;
}

/** Between two rounds, as the list of chores says; a batch that is due before has the next one then. */
const ROUND_MS = 1000;
const MIN_ROUND_MS = 20;

/** Makes a batch of a group's requests where they are many, large or old enough. Returns when they will be, ms from now. */
async function gather({ store, settings, redis }: RunBatchesPorts, group: string, target: ModelBatch['record']['target']): Promise<number> {
  const { maxRequests, maxBytes, gatherMs } = settings.modelBatches;
  const waiting = await store.waiting(group, maxRequests);
  const [oldest] = waiting;
  if (!oldest) return Infinity;
  const createdAt = await redisNow(redis);
  const fitting = withinBytes(waiting, maxBytes);
  const isFull = fitting.length < waiting.length || waiting.length >= maxRequests;
  const waitedMs = createdAt - oldest.at;
  if (!isFull && waitedMs < gatherMs) return gatherMs - waitedMs;
  const until = Math.max(...fitting.map(({ record }) => record.until));
  await store.take(newTaskId().toLowerCase(), { target, total: fitting.length, createdAt, until }, fitting);
  return 0;
}

/** The first of them that one file may have; the first alone where it is too large by itself. */
function withinBytes(waiting: readonly WaitingRequest[], maxBytes: number): WaitingRequest[] {
  let bytes = 0;
  return waiting.filter(({ record }, at) => {
    bytes += record.bytes;
    return at === 0 || bytes <= maxBytes;
  });
}

async function step(ports: RunBatchesPorts, id: string): Promise<void> {
  const { store } = ports;
  const batch = await store.read(id);
  if (!batch || batch.open.length === 0) return await remove(ports, id);
  try {
    const client = await ports.clientOf(batch.record.target);
    const provider = batch.provider ?? (await send(ports, client, batch));
    if (provider === null) return await store.remove(id);
    await followBatch(ports, client, { ...batch, provider });
  } catch (error) {
    if (isRedisUnavailable(error)) throw error;
    await fail(ports, batch, error);
  }
}

/** Sends a batch, each step once. Returns its id there; null where nobody waits for it any more. */
async function send(ports: RunBatchesPorts, client: BatchClient, batch: ModelBatch): Promise<string | null> {
  const { store, redis } = ports;
  const { id } = batch;
  const open = batch.isUploading ? batch.open : await dropStopped(ports, batch);
  if (open.length === 0) return null;
  await store.note(id, 'uploading', '1');
  const file = batch.file ?? (await store.note(id, 'file', await upload(ports, client, { batch, open })));
  await store.keep(id);
  // Its answer may not have come here: there is one batch of ours at most.
  const known = batch.isCreating ? await client.find(id, batch.record.createdAt) : null;
  if (!known) await store.note(id, 'creating', String(await redisNow(redis)));
  await store.keep(id);
  const made = known ?? (await client.create(id, file));
  const first = await store.note(id, 'provider', made.id);
  if (first !== made.id) await client.cancel(made.id);
  ports.log.info(
    { event: 'model-batch.sent', batch: first, provider: batch.record.target.provider, requests: open.length },
    'a batch was sent to its provider',
  );
  return first;
}

async function upload(
  ports: RunBatchesPorts,
  client: BatchClient,
  { batch, open }: { batch: ModelBatch; open: readonly BatchedRequest[] },
): Promise<string> {
  const sent = batch.isUploading ? await client.findFile(batch.id) : null;
  if (sent !== null) return sent;
  const lines = await pMap(open, (request) => lineOf(ports, request), { concurrency: TOGETHER });
  await ports.store.keep(batch.id);
  return await client.upload(
    batch.id,
    lines.filter((line) => line !== null),
  );
}

/** The line of a request in the file of its batch; null where it cannot be read any more. */
async function lineOf({ ledger }: RunBatchesPorts, request: BatchedRequest): Promise<string | null> {
  const wait = batchWaitOf(await readEntry(ledger, request, request.seq));
  if (!wait) return null;
  const named = JSON.stringify({ custom_id: customIdOf(request), method: 'POST', url: BATCH_ENDPOINT });
  return `${named.slice(0, -1)},"body":${wait.body}}`;
}

/** Leaves out what nobody waits for any more. Returns the others. */
async function dropStopped(ports: RunBatchesPorts, { id, open }: ModelBatch): Promise<BatchedRequest[]> {
  const left = await stillWaiting(ports, open);
  const stopped = open.filter((request) => !left.includes(request));
  await endAll(ports, id, stopped, { kind: 'direct', provider: null, reason: 'its run went on' });
  return left;
}

/** What a provider refuses for good is called directly, as are calls whose time is short; else somebody tries again. */
async function fail(ports: RunBatchesPorts, batch: ModelBatch, error: unknown): Promise<void> {
  const { store, settings, log, redis } = ports;
  const { pollMs, maxPollMs } = settings.modelBatches;
  const { id, provider, record } = batch;
  const failures = await store.noteFailure(id);
  log.warn(
    { event: 'model-batch.failed', batch: provider ?? id, provider: record.target.provider, failures, err: error },
    'a batch is looked at again later',
  );
  const isRefused = error instanceof TaskFailure && classifyFailure(error.code) === 'permanent';
  if ((isRefused && provider === null) || (await redisNow(redis)) > record.until + GIVE_UP_MS) {
    await endAll(ports, id, batch.open, { kind: 'direct', provider, reason: error instanceof Error ? error.message : 'it failed' });
    return await remove(ports, id);
  }
  await store.lookIn(id, Math.min(maxPollMs, pollMs * 2 ** Math.min(failures, MAX_DOUBLINGS)));
}

/** Nothing is read any more of what the provider has of it. A process that was killed may have left it with all its requests answered. */
async function remove(ports: RunBatchesPorts, id: string): Promise<void> {
  // Its file may have been sent by this very step.
  const batch = await ports.store.read(id);
  await ports.store.remove(id);
  if (!batch?.file) return;
  try {
    dropFiles(ports, await ports.clientOf(batch.record.target), [batch.file]);
  } catch (error) {
    ports.log.debug({ err: error }, 'the key of a batch is there no more');
  }
}

/** OpenAI ends a batch within a day; so long after its runs went on nobody learns what it cost. */
const GIVE_UP_MS = 2 * 86_400_000;
const MAX_DOUBLINGS = 20;
