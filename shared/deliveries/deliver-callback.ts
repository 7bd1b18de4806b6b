import { readTask } from '../ledger/index.ts';
import type { DeliveryEnd } from '../queue/index.ts';
import { isTerminal, type Task, taskRecord } from '../tasks/index.ts';
import { countFailure, forgetFailures, readEndpoint } from './callback-endpoints.ts';
import { readCallbackSecrets, signCallback } from './callback-secrets.ts';
import type { DeliveryContext } from './delivery-context.ts';
import { endDelivery } from './end-delivery.ts';
import type { HeldDelivery } from './held-delivery.ts';
import { sendCallback, type CallbackAnswer } from './send-callback.ts';

/** A tenant's callbacks over its share come back within this and twice this, so that they do not all come together. */
const CROWD_MS = 2000;

/** Tells a task's `callbackUrl` how the task ended. */
export async function deliverCallback(context: DeliveryContext, held: HeldDelivery): Promise<DeliveryEnd> {
  const { tenant, task: id } = held.delivery;
  const { clock, ledger, callbackSlots } = context;
  const task = await readTask(ledger, tenant, id);
  if (task === null) return await endDelivery(context, held, 'failed', { code: 'task-gone', message: 'The task is not kept any more' });
  const url = task.body.callbackUrl;
  if (url === null) return await endDelivery(context, held, 'failed', { code: 'no-address', message: 'The task has no callbackUrl' });
  // It was opened again; its next end brings the job back.
  if (!isTerminal(task.state.status)) return { kind: 'later', at: clock.now() + ledger.settings.deliveries.stepAsideMs };
  const endpoint = await readEndpoint(ledger, tenant, url);
  if (endpoint?.disabledAt != null) {
    const message = 'The endpoint failed for too long; enable it by POST /v1/callbacks/endpoints/enable';
    return await endDelivery(context, held, 'failed', { code: 'endpoint-disabled', message });
  }
  if (!callbackSlots.take(tenant)) return { kind: 'later', at: clock.now() + CROWD_MS * (1 + Math.random()) };
  try {
    return await callOnce(context, held, task, url);
  } finally {
    callbackSlots.giveBack(tenant);
  }
}

async function callOnce(context: DeliveryContext, held: HeldDelivery, task: Task, url: string): Promise<DeliveryEnd> {
  const { ledger, clock, fetch } = context;
  const { timeoutMs, secretOverlapMs } = ledger.settings.deliveries.callbacks;
  // Counted before it is made, so that one that kills the process is not made for ever.
  await held.save({ attempts: held.delivery.attempts + 1, nextTryAt: null, endedAt: task.state.completedAt ?? clock.now() });
  const { tenant, id, turn } = held.delivery;
  const now = clock.now();
  const body = JSON.stringify(taskRecord(task));
  const secrets = await readCallbackSecrets(ledger, tenant, now);
  const signature = signCallback(secrets, { id: turn === 0 ? id : `${id}-${turn}`, body, now, secretOverlapMs });
  const headers = { 'content-type': 'application/json', 'user-agent': 'muster', traceparent: task.body.traceparent, ...signature };
  const answer = await sendCallback({ fetch, url, headers, body, timeoutMs, now });
  return await afterAnswer(context, held, url, answer);
}

async function afterAnswer(context: DeliveryContext, held: HeldDelivery, url: string, answer: CallbackAnswer): Promise<DeliveryEnd> {
  const { ledger, clock } = context;
  const { tenant, attempts } = held.delivery;
  if (answer.kind === 'taken') {
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
