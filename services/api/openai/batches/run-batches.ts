import pMap from 'p-map';
import type { Settings } from '#shared/config/index.ts';
import type { ErrorCode } from '#shared/errors/index.ts';
import { invalidRequest, openaiError, problemsOf, toMusterError, withoutNulls } from '#shared/http/index.ts';
import { readStates } from '#shared/ledger/index.ts';
import { cancelTree } from '#shared/queue/index.ts';
import { hasCode } from '#shared/errors/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import { isTerminal, type TaskState } from '#shared/tasks/index.ts';
import type { SentFiles } from '../files/sent-files.ts';
import { acceptAsked, type AcceptPorts, type AskedTask } from '../requests/accept-request.ts';
import { assertAsked } from '../requests/begin-answer.ts';
import { chatSchema, readChat } from '../requests/chat-request.ts';
import { type ReadPorts, readResponse, responseSchema } from '../requests/response-request.ts';
import { type BatchLines, readLine } from './batch-lines.ts';
import { writeResults } from './batch-results.ts';
import { type Batch, type BatchState, type BatchStatus, type BatchStore, taskOfLine } from './batch-store.ts';

export interface BatchPorts extends AcceptPorts, ReadPorts {
  readonly sentFiles: SentFiles;
  readonly batches: BatchStore;
  readonly batchLines: BatchLines;
  readonly config: { readonly settings: Settings };
}

/** Batches of one shard that one round looks at. */
const MAX_PER_ROUND = 20;
/** Between two looks at a batch: while it has something to do, and where something is in its way. */
const LOOK_MS = 1000;
const AGAIN_MS = 5000;

/** Takes each batch that is due a step further. What a process that dies leaves is for the next, which does nothing twice. */
export async function runBatches(ports: BatchPorts, signal: AbortSignal): Promise<void> {
  const { batches, keys } = ports;
  for (let shard = 0; shard < keys.shards; shard += 1) {
    for (const batch of await batches.takeDue(shard, MAX_PER_ROUND)) {
      if (signal.aborted) await batches.lookIn(batch, 0);
      else await step(ports, batch);
    }
  }
}

async function step(ports: BatchPorts, batch: Batch): Promise<void> {
  const { batches, batchLines, log } = ports;
  try {
    const lines = await batchLines.read(batch);
    await batches.write(await advance(ports, batch, lines), LOOK_MS);
  } catch (error) {
    if (hasCode(error, 'upload.not-found')) return await batches.write(await fail(ports, batch), LOOK_MS);
    log.warn({ event: 'batch.waits', tenant: batch.tenant, batch: batch.id, err: error }, 'a batch is looked at again later');
    await batches.lookIn(batch, AGAIN_MS);
  }
}

const NO_FILE = { code: 'file_not_found', message: 'The input file is no longer kept', line: null };

async function fail(ports: BatchPorts, batch: Batch): Promise<Batch> {
  return await inStatus(ports, { ...batch, state: { ...batch.state, errors: [NO_FILE] } }, 'failed');
}

async function inStatus({ redis }: BatchPorts, batch: Batch, status: BatchStatus, more: Partial<BatchState> = {}): Promise<Batch> {
  const { state } = batch;
  return { ...batch, state: { ...state, ...more, status, at: { ...state.at, [status]: await redisNow(redis) } } };
}

async function advance(ports: BatchPorts, found: Batch, lines: readonly string[]): Promise<Batch> {
  let batch = found;
  if (batch.state.status === 'validating') {
    const errors = ports.batchLines.check(batch, lines);
    batch = await inStatus(ports, batch, errors.length > 0 ? 'failed' : 'in_progress', { errors, total: lines.length });
    if (errors.length > 0) return batch;
  }
  const end = await endingOf(ports, batch);
  batch = end === 'completed' ? await makeTasks(ports, batch, lines) : batch;
  if (end !== 'completed') await cancelOpen(ports, batch);
  batch = await countEnds(ports, batch);
  const { done, next, total } = batch.state;
  if (done < (end === 'completed' ? total : next)) return batch;
  const results = await writeResults(ports, batch, lines, end === 'completed' ? null : `batch_${end}`);
  ports.batchLines.forget(batch);
  return await inStatus(ports, await inStatus(ports, batch, 'finalizing'), end, results);
}

/** How a batch ends by now: `completed` where nothing is in its way. */
async function endingOf({ redis }: BatchPorts, { record, cancelAt }: Batch): Promise<'completed' | 'expired' | 'cancelled'> {
  if (cancelAt !== null) return 'cancelled';
  return (await redisNow(redis)) >= record.expiresAt ? 'expired' : 'completed';
}

/** Makes tasks of the next requests, as many as may be open. */
async function makeTasks(ports: BatchPorts, batch: Batch, lines: readonly string[]): Promise<Batch> {
  const { total, done } = batch.state;
  const upTo = Math.min(total, done + ports.config.settings.openai.batchAhead);
  let { next } = batch.state;
  for (; next < upTo; next += 1) {
    if (!(await makeTask(ports, batch, { line: next, text: lines[next] ?? '' }))) break;
  }
  return { ...batch, state: { ...batch.state, next } };
}

/** Returns false where the request is to be made later. */
async function makeTask(ports: BatchPorts, batch: Batch, { line, text }: { line: number; text: string }): Promise<boolean> {
  const { tenant, record } = batch;
  try {
    const asked = await readAsked(ports, batch, text);
    const { keyId, traceparent } = record;
    const id = taskOfLine(batch, line);
    await acceptAsked(ports, asked, { tenant, id, traceparent, priority: 'low', ...(keyId !== null && { keyId }) });
    return true;
  } catch (error) {
    const known = toMusterError(error);
    if (isPassing(known.code)) return false;
    const { status, body } = openaiError(known);
    await ports.batches.refuse(batch, line, { status_code: status, request_id: null, body });
    return true;
  }
}

/** What a limit, an outage or a disabled tenant refuses may be made later. */
function isPassing(code: ErrorCode): boolean {
  return /^(?:limit|unavailable|tenant)\./.test(code);
}

/** The task that a line asks for. It answers once, and nobody waits for it. Errors: `request.invalid`. */
async function readAsked(ports: BatchPorts, { tenant, record }: Batch, text: string): Promise<AskedTask> {
  const body = { ...readLine(text)?.data?.body, stream: false, background: false };
  if (record.endpoint === '/v1/chat/completions') {
    const parsed = withoutNulls(chatSchema, body);
    if (!parsed.success) throw invalidRequest(problemsOf(parsed.error, 'body'));
    return withInput({ ...readChat(parsed.data), isAwaited: false });
  }
  const parsed = withoutNulls(responseSchema, body);
  if (!parsed.success) throw invalidRequest(problemsOf(parsed.error, 'body'));
  return withInput({ ...(await readResponse(ports, tenant, parsed.data)), isAwaited: false });
}

function withInput(asked: AskedTask): AskedTask {
  assertAsked(asked);
  return asked;
}

/** Lines whose states are read together. */
const PAGE = 500;

/** Counts the requests that have ended, up to the first that has not. */
async function countEnds(ports: BatchPorts, batch: Batch): Promise<Batch> {
  let { done, completed, failed } = batch.state;
  while (done < batch.state.next) {
    const lines = Array.from({ length: Math.min(PAGE, batch.state.next - done) }, (_, at) => done + at);
    const ends = await readEnds(ports, batch, lines);
    const open = ends.indexOf('open');
    const ended = open === -1 ? ends : ends.slice(0, open);
    done += ended.length;
    completed += ended.filter((end) => end === 'answered').length;
    failed += ended.filter((end) => end === 'failed').length;
    if (open !== -1) break;
  }
  return { ...batch, state: { ...batch.state, done, completed, failed } };
}

type End = 'open' | 'answered' | 'failed';

async function readEnds({ ledger, batches }: BatchPorts, batch: Batch, lines: readonly number[]): Promise<End[]> {
  const ids = lines.map((line) => taskOfLine(batch, line));
  const [states, refusals] = await Promise.all([readStates(ledger, batch.tenant, ids), batches.refusals(batch, lines)]);
  return lines.map((_line, at) => (typeof refusals[at] === 'string' ? 'failed' : endOf(states[at] ?? null)));
}

/** A run that waits for functions of its caller has answered: nobody comes back to a batch. */
function endOf(state: TaskState | null): End {
  if (state === null) return 'failed';
  if (state.status === 'completed' || state.gate === 'caller') return 'answered';
  return isTerminal(state.status) ? 'failed' : 'open';
}

/** Tasks that are cancelled at once. */
const TOGETHER = 16;

async function cancelOpen(ports: BatchPorts, batch: Batch): Promise<void> {
  const { done, next } = batch.state;
  const lines = Array.from({ length: next - done }, (_, at) => done + at);
  const ends = await readEnds(ports, batch, lines);
  const open = lines.filter((_line, at) => ends[at] === 'open');
  await pMap(open, (line) => cancelTree(ports.ledger, batch.tenant, taskOfLine(batch, line), 'its batch ended'), { concurrency: TOGETHER });
}
