import type { Accepted, AcceptRequest } from '#shared/queue/index.ts';
import type { Clock } from '#shared/time/index.ts';
import { describeDelivery, MAX_KEPT_BYTES, refusalOf } from './deliveries/describe-delivery.ts';
import type { StoredDelivery } from './deliveries/hook-delivery.ts';
import { choosePriority, type Hook } from './hook.ts';
import type { WebhookEvent } from './providers/registry.ts';
import { type RenderBounds, renderSession, renderTemplate } from './templates/render-template.ts';

export interface MakeTaskParts {
  readonly clock: Clock;
  /** Bounds of the task's input, and of the work of rendering it. */
  readonly rendering: RenderBounds;
  /** Keeps what became of a request. */
  record(hook: Hook, delivery: StoredDelivery): void;
  accept(request: AcceptRequest): Promise<Pick<Accepted, 'id' | 'status' | 'isDuplicate'>>;
}

/** An event whose sender is known: its proof was checked, or it is a person with a key. */
interface KnownWebhook extends Pick<WebhookEvent, 'event' | 'eventType' | 'payload'> {
  readonly delivery: string;
  readonly bytes: number;
  readonly origin: StoredDelivery['origin'];
}

/** The task of an event: 202 for a new one, 200 for that of an earlier delivery. */
export interface TaskAnswer {
  readonly status: 200 | 202;
  readonly body: { id: string; status: string | null };
}

/** Makes the task of an event, and records the delivery. Throws what accepting throws. */
export async function makeTaskOf(parts: MakeTaskParts, hook: Hook, webhook: KnownWebhook, traceparent?: string): Promise<TaskAnswer> {
  const { event, eventType, delivery, bytes, origin } = webhook;
  const isSmall = bytes <= MAX_KEPT_BYTES;
  const payload = isSmall ? (JSON.stringify(withoutToken(hook, webhook.payload)) ?? 'null') : '';
  const known = { ...describeDelivery(parts.clock, bytes), event, eventType, delivery, origin, payload, mayReplay: isSmall };
  try {
    const task = taskOf(hook, webhook, parts.rendering);
    const { id, status, isDuplicate } = await parts.accept({ ...task, ...(traceparent === undefined ? {} : { traceparent }) });
    parts.record(hook, { ...known, verdict: isDuplicate ? 'repeated' : 'accepted', taskId: id });
    return { status: isDuplicate ? 200 : 202, body: { id, status } };
  } catch (error) {
    parts.record(hook, { ...known, ...refusalOf(error) });
    throw error;
  }
}

/** Slack repeats a secret of the application in each body. */
function withoutToken({ provider }: Hook, payload: unknown): unknown {
  if (provider !== 'slack' || typeof payload !== 'object' || payload === null || !('token' in payload)) return payload;
  return { ...payload, token: '[removed]' };
}

function taskOf(hook: Hook, webhook: KnownWebhook, rendering: RenderBounds): AcceptRequest {
  const { event, eventType, delivery, payload } = webhook;
  const view = { event, delivery, payload };
  const session = renderSession(hook.session, view, rendering.maxSteps);
  return {
    tenant: hook.tenant,
    agent: hook.agent,
    input: renderTemplate(hook.template, view, rendering),
    source: 'webhook',
    sourceId: hook.id,
    trigger: 'hook',
    untrusted: !hook.directives,
    priority: choosePriority(hook.priority, eventType),
    ...(session === null ? {} : { session }),
    context: { hook: hook.id, provider: hook.provider, event, event_type: eventType, delivery },
    idempotencyKey: `hook:${hook.id}:${delivery}`,
    // Not the bytes: a sender may repeat a delivery with slightly different ones.
    idempotencyBody: delivery,
  };
}
