import { failureFromNetwork, type GuardedFetch, readRetryAfter } from '../../agents/index.ts';
import { readTask } from '../../ledger/index.ts';
import type { DeliveryEnd } from '../../queue/index.ts';
import { isTerminal, type Task, taskRecord } from '../../tasks/index.ts';
import { questionsOfTask, questionView } from '../../waits/index.ts';
import type { Delivery } from '../delivery.ts';
import { type DeliveryContext, endDelivery, type HeldDelivery, startDeliverySpan } from '../held-delivery.ts';
import { countFailure, forgetFailures, readEndpoint } from './callback-records.ts';
import { readCallbackSecrets, signCallback } from './callback-secrets.ts';

/** Callbacks beyond a tenant's slots are retried after one to two times this, so that they do not all come together. */
const CROWDED_RETRY_MS = 2000;

/** What a callback says, and when that came about, ms since the epoch. */
interface Report {
  body: string;
  at: number;
}

/** What there is to report of a task; null while there is nothing. */
async function reportOf({ ledger, clock }: DeliveryContext, { kind }: Delivery, task: Task): Promise<Report | null> {
  if (kind === 'question') {
    const question = (await questionsOfTask(ledger, task)).at(-1);
    return question ? { body: JSON.stringify({ event: 'question', question: questionView(question) }), at: question.askedAt } : null;
  }
  // The task was opened again; its next end brings the job back.
  if (!isTerminal(task.state.status)) return null;
  return { body: JSON.stringify(taskRecord(task)), at: task.state.completedAt ?? clock.now() };
}

/** Sends to a task's `callbackUrl` its record once it has ended, or what its run asks. */
export async function deliverCallback(context: DeliveryContext, held: HeldDelivery): Promise<DeliveryEnd> {
  const { tenant, task: id } = held.delivery;
  const { clock, ledger, callbackSlots } = context;
  const task = await readTask(ledger, tenant, id);
  if (task === null) return await endDelivery(context, held, 'failed', { code: 'task-gone', message: 'The task is not kept any more' });
  const url = task.body.callbackUrl;
  if (url === null) return await endDelivery(context, held, 'failed', { code: 'no-address', message: 'The task has no callbackUrl' });
  const report = await reportOf(context, held.delivery, task);
  if (report === null) return { kind: 'later', at: clock.now() + ledger.settings.deliveries.stepAsideMs };
  const endpoint = await readEndpoint(ledger, tenant, url);
  if (endpoint?.disabledAt != null) {
    const message = 'The endpoint failed for too long; enable it by POST /v1/callbacks/endpoints/enable';
    return await endDelivery(context, held, 'failed', { code: 'endpoint-disabled', message });
  }
  if (held.delivery.attempts > ledger.settings.deliveries.callbacks.retryMs.length) {
    const message = 'Its process died during the last call, and there are no more tries';
    return await endDelivery(context, held, 'unknown', { code: 'interrupted', message });
  }
  if (!callbackSlots.acquire(tenant)) return { kind: 'later', at: clock.now() + CROWDED_RETRY_MS * (1 + Math.random()) };
  try {
    return await callOnce(context, held, task, { ...report, url });
  } finally {
    callbackSlots.release(tenant);
  }
}

async function callOnce(
  context: DeliveryContext,
  held: HeldDelivery,
  task: Task,
  { url, body, at }: Report & { url: string },
): Promise<DeliveryEnd> {
  const { ledger, clock, fetch } = context;
  const { timeoutMs, secretOverlapMs } = ledger.settings.deliveries.callbacks;
  // Counted before the call, so that a call that kills the process is not repeated without an end.
  await held.save({ attempts: held.delivery.attempts + 1, nextTryAt: null, endedAt: at });
  const { tenant, id, turn } = held.delivery;
  const now = clock.now();
  const secrets = await readCallbackSecrets(ledger, tenant, now);
  const signature = signCallback(secrets, { id: turn === 0 ? id : `${id}-${turn}`, body, now, secretOverlapMs });
  const span = startDeliverySpan(ledger, task, held.delivery);
  const traceparent = span?.traceparent ?? task.body.traceparent;
  const headers = { 'content-type': 'application/json', 'user-agent': 'muster', traceparent, ...signature };
  const answer = await sendCallback({ fetch, url, headers, body, timeoutMs, now });
  if (answer.kind !== 'accepted') span?.fail(answer.code);
  span?.end();
  return await handleAnswer(context, held, url, answer);
}

async function handleAnswer(context: DeliveryContext, held: HeldDelivery, url: string, answer: CallbackAnswer): Promise<DeliveryEnd> {
  const { ledger, clock } = context;
  const { tenant, attempts } = held.delivery;
  if (answer.kind === 'accepted') {
    await forgetFailures(ledger, tenant, url);
    return await endDelivery(context, held, 'delivered');
  }
  const now = clock.now();
  const error = { code: answer.code, message: answer.message };
  await countFailure(ledger, tenant, url, { error, now });
  const delayMs = ledger.settings.deliveries.callbacks.retryMs[attempts - 1];
  if (answer.kind === 'refused' || delayMs === undefined) return await endDelivery(context, held, 'failed', error);
  const nextTryAt = now + Math.max(delayMs, answer.retryAfterMs);
  await held.save({ error, nextTryAt });
  return { kind: 'later', at: nextTryAt };
}

interface CallbackCall {
  fetch: GuardedFetch;
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs: number;
  /** Now, ms since the epoch. */
  now: number;
}

/** `refused`: another try would end the same. */
type CallbackAnswer =
  | { kind: 'accepted' }
  | { kind: 'failed'; code: string; message: string; retryAfterMs: number }
  | { kind: 'refused'; code: string; message: string };

const GONE = 410;
const LATER = new Set([429, 503]);
/** Failures that lie in the address, not in who is there. */
const ADDRESS_FAULTS = new Set(['PERMISSION_DENIED', 'INVALID_INPUT']);

/** POSTs once. Only 2xx is a success: redirects are not followed. The answer's body is not read. Never rejects. */
async function sendCallback({ fetch, url, headers, body, timeoutMs, now }: CallbackCall): Promise<CallbackAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    await response.body?.cancel().catch(() => undefined);
    if (response.ok) return { kind: 'accepted' };
    const failure = { code: `http-${response.status}`, message: `The endpoint answered with ${response.status}` };
    if (response.status === GONE) return { kind: 'refused', ...failure };
    const asked = LATER.has(response.status) && response.headers.has('retry-after');
    return { kind: 'failed', ...failure, retryAfterMs: asked ? readRetryAfter(Object.fromEntries(response.headers), now) : 0 };
  } catch (error) {
    if (signal.aborted)
      return { kind: 'failed', code: 'timeout', message: `The endpoint did not answer within ${timeoutMs} ms`, retryAfterMs: 0 };
    const { code, message } = failureFromNetwork(error);
    if (ADDRESS_FAULTS.has(code)) return { kind: 'refused', code: 'address', message };
    return { kind: 'failed', code: 'network', message, retryAfterMs: 0 };
  }
}

/** CallbackSlots is responsible for bounding the callbacks of one tenant at once, so that its slow endpoints do not stop the others'. */
export class CallbackSlots {
  readonly #maxPerTenant: number;
  readonly #taken = new Map<string, number>();

  constructor(maxPerTenant: number) {
    this.#maxPerTenant = maxPerTenant;
  }

  /** Returns whether the tenant had a slot left. The caller releases it. */
  acquire(tenant: string): boolean {
    const taken = this.#taken.get(tenant) ?? 0;
    if (taken >= this.#maxPerTenant) return false;
    this.#taken.set(tenant, taken + 1);
    return true;
  }

  release(tenant: string): void {
    const left = (this.#taken.get(tenant) ?? 0) - 1;
    if (left > 0) this.#taken.set(tenant, left);
    else this.#taken.delete(tenant);
  }
}
