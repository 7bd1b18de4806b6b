import { settleSpendOf, type SpendPorts, spendSubject } from '../../budgets/index.ts';
import type { Settings } from '../../config/index.ts';
import { addUsage, answerCall, answerRuns, countTokens, type Ledger, type NumberedEntry, readBody, readEntry } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import {
  type BatchAnswer,
  type BatchedRequest,
  batchWaitOf,
  type BatchWait,
  modelLabels,
  type ModelBatchStore,
  readTokens,
  usageOf,
} from '../../providers/index.ts';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { redisNow } from '../../redis/index.ts';
import type { TaskBody, TaskUsage } from '../../tasks/index.ts';
import { priceUsage, pricedUsage } from '../../usage/index.ts';

export interface BatchPorts extends SpendPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly ledger: Ledger;
  readonly log: Log;
  readonly store: ModelBatchStore;
}

/** What became of a request. `provider`: the batch there; null for none. */
export type RequestEnd =
  | { readonly kind: 'answered'; readonly provider: string; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: 'direct'; readonly provider: string | null; readonly reason: string };

/**
 * Gives a run what its batch answered, or has it call directly. Its money counts once, also where the run waits no more, and so does what it used. Each step
 * does nothing the second time.
 */
export async function answerRequest(ports: BatchPorts, request: BatchedRequest, end: RequestEnd): Promise<void> {
  const { ledger } = ports;
  const [body, entry] = await Promise.all([readBody(ledger, request.tenant, request.id), readEntry(ledger, request, request.seq)]);
  if (!body || !entry) return;
  const wait = batchWaitOf(entry);
  const usage = wait && usageOfEnd(ports.settings, wait, end);
  await countUsage(ports, { body, entry }, usage);
  const value = JSON.stringify(answerOf(ports.settings, end));
  const ended: NumberedEntry = { ...entry, status: 'completed', endedAt: await redisNow(ledger.redis), value, ...(usage && { usage }) };
  if ((await giveAnswer(ledger, request, ended)) && wait) countCall(ports, wait, end);
}

/** Returns whether its run waited for it. */
async function giveAnswer(ledger: Ledger, { tenant, id, seq }: BatchedRequest, entry: NumberedEntry): Promise<boolean> {
  if (entry.given !== undefined) return (await answerCall(ledger, { tenant, id, entry })) === 'answered';
  const [given] = await answerRuns(ledger, tenant, [{ id, entry }]);
  if (given?.kind === 'failed') throw new Error(`The answer for entry ${seq} of ${id} could not be recorded: ${given.why}`);
  return given?.kind === 'promoted';
}

/** Names what a request reserves of the tenant's budgets. */
export function spendIdOf({ id, seq }: Pick<BatchedRequest, 'id' | 'seq'>): string {
  return `batch/${id}/${seq}`;
}

interface EndedRequest {
  body: TaskBody;
  entry: NumberedEntry;
}

/** Counts what a request cost in place of what it reserved, and what it used, each once. */
async function countUsage(ports: BatchPorts, { body, entry }: EndedRequest, usage: TaskUsage | null): Promise<void> {
  const { ledger, settings } = ports;
  const { tenant, id, agent, rootTaskId } = body;
  const call = { id: spendIdOf({ id, seq: entry.seq }), subject: spendSubject(body), at: entry.startedAt };
  await settleSpendOf(ports, call, usage?.costMicroUsd ?? 0);
  if (!usage || !(await addUsage(ledger, { tenant, id, seq: entry.seq, usage, now: await redisNow(ledger.redis) }))) return;
  ledger.counts.usageAdded(agent, usage);
  if (settings.runaways.maxTokens === 0) return;
  const use = { id, token: `batch-${entry.seq}` };
  await countTokens(ledger, { tenant, root: rootTaskId ?? id }, use, usage.inputTokens + usage.outputTokens);
}

/** What is longer than the journal takes is called directly, where its answer is a stream. */
function answerOf({ journal }: Settings, end: RequestEnd): BatchAnswer {
  const { provider: batch } = end;
  if (end.kind === 'direct') return { kind: 'direct', batch, reason: end.reason };
  const body = JSON.stringify(end.body);
  if (Buffer.byteLength(body) <= journal.maxValueBytes) return { kind: 'answered', batch: end.provider, body };
  return { kind: 'direct', batch, reason: `the answer has more than ${journal.maxValueBytes} bytes (journal.maxValueBytes)` };
}

/** What an answer used, with what it cost in the batch; null where the provider does not say. */
function usageOfEnd({ models }: Settings, { target: { model }, discount, ownPrice }: BatchWait, end: RequestEnd): TaskUsage | null {
  const tokens = end.kind === 'answered' ? readTokens(usageOf(end.body)) : null;
  if (tokens === null) return null;
  const { inputTokens = 0, outputTokens = 0, ...parts } = tokens;
  const used = { ...parts, inputTokens, outputTokens, model };
  const price = ownPrice ? (inputTokens * ownPrice.input + outputTokens * ownPrice.output) / 1_000_000 : priceUsage(models, model, used);
  return pricedUsage(models, price === null ? used : { ...used, costMicroUsd: Math.round(price * (1 - discount)) });
}

function countCall({ ledger, settings }: BatchPorts, { target: { provider, baseUrl, model } }: BatchWait, { kind }: RequestEnd): void {
  const account = { name: provider, endpoint: new URL(baseUrl).origin, limits: {} };
  ledger.counts.modelCalled(modelLabels(settings, { account, model }), kind === 'answered' ? 'batched' : 'unbatched');
}
