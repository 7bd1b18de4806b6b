import { MusterError } from '#shared/errors/index.ts';
import type { Accepted, AcceptRequest } from '#shared/queue/index.ts';
import type { Clock } from '#shared/time/index.ts';
import { describeDelivery, MAX_KEPT_BYTES, refusalOf } from './deliveries/describe-delivery.ts';
import type { StoredDelivery } from './deliveries/hook-delivery.ts';
import type { Identity } from './deliveries/identify-delivery.ts';
import { choosePriority, type Hook } from './hook.ts';
import type { WebhookEvent } from './providers/registry.ts';
import { type RenderBounds, renderSession, renderTemplate } from './templates/render-template.ts';

/** An event for runs, as the hook's sender names it. */
export interface HookEvent {
  id: string;
  name: string;
  data: unknown;
  /** The id that runs see. */
  shownId: string;
}

export interface MakeTaskParts {
  readonly clock: Clock;
  /** Bounds of the task's input, and of the work of rendering it. */
  readonly rendering: RenderBounds;
  /** Keeps what became of a request. */
  record(hook: Hook, delivery: StoredDelivery): void;
  /** Sends an event to the runs that wait for it. */
  send(tenant: string, event: HookEvent): Promise<{ resumed: number; isRepeat: boolean }>;
  accept(request: AcceptRequest): Promise<Pick<Accepted, 'id' | 'status' | 'outcome' | 'isDuplicate'>>;
}

/** An event whose sender is known: its proof was checked, or it is a person with a key. */
interface KnownWebhook extends Pick<WebhookEvent, 'event' | 'eventType' | 'payload'> {
  readonly delivery: string;
  /** What it is recognized by; absent for one that a person makes. */
  readonly identity?: Identity;
  /** Why it is a repeat, should its task be there already. */
  readonly repeats?: string | null;
  readonly bytes: number;
  readonly origin: StoredDelivery['origin'];
}

/** The task of an event, or how many runs it resumed: 202 for a new one, 200 for that of an earlier delivery. */
export interface TaskAnswer {
  readonly status: 200 | 202;
  readonly body: { id: string; status: string | null; resumed?: number; identity?: Identity; reason?: string };
}

/** Makes the task of an event, or sends it to runs, and records the delivery. Throws what accepting and sending throw. */
export async function makeTaskOf(parts: MakeTaskParts, hook: Hook, webhook: KnownWebhook, traceparent?: string): Promise<TaskAnswer> {
  const known = recordOf(parts.clock, hook, webhook);
  try {
    if (hook.event !== null) return await sendToRuns(parts, { hook, name: hook.event, known }, webhook);
    const task = taskOf(hook, webhook, parts.rendering);
    const run = await acceptAgain(parts, { ...task, ...(traceparent === undefined ? {} : { traceparent }) });
    const reason = run.isDuplicate ? `A repeat: ${webhook.repeats ?? 'its task is there'}` : run.former;
    parts.record(hook, { ...known, verdict: run.isDuplicate ? 'repeated' : 'accepted', reason, taskId: run.id });
    return { status: run.isDuplicate ? 200 : 202, body: answerOf(run, webhook, reason) };
  } catch (error) {
    parts.record(hook, { ...known, ...refusalOf(error) });
    throw error;
  }
}

interface Sending {
  hook: Hook;
  /** Of the event. */
  name: string;
  known: Omit<StoredDelivery, 'verdict'>;
}

async function sendToRuns(parts: MakeTaskParts, { hook, name, known }: Sending, webhook: KnownWebhook): Promise<TaskAnswer> {
  const { delivery, identity, payload } = webhook;
  // As runs get it: JavaScript's own numbers.
  const data: unknown = JSON.parse(JSON.stringify(withoutToken(hook, payload)) ?? 'null');
  const event = { id: `hook:${hook.id}:${delivery}`, name, data, shownId: delivery };
  const { resumed, isRepeat } = await parts.send(hook.tenant, event);
  const reason = isRepeat ? `A repeat: ${webhook.repeats ?? 'it was sent'}` : `Sent as the event "${name}" to ${resumed} runs`;
  parts.record(hook, { ...known, verdict: isRepeat ? 'repeated' : 'accepted', reason });
  const body = { id: delivery, status: null, resumed, ...(identity === undefined ? {} : { identity }) };
  return { status: isRepeat ? 200 : 202, body };
}

function answerOf({ id, status }: Run, { identity }: KnownWebhook, reason: string | null): TaskAnswer['body'] {
  return { id, status, ...(identity === undefined ? {} : { identity }), ...(reason === null ? {} : { reason }) };
}

function recordOf(clock: Clock, hook: Hook, webhook: KnownWebhook): Omit<StoredDelivery, 'verdict'> {
  const { event, eventType, delivery, identity = null, bytes, origin } = webhook;
  const isSmall = bytes <= MAX_KEPT_BYTES;
  const payload = isSmall ? (JSON.stringify(withoutToken(hook, webhook.payload)) ?? 'null') : '';
  return { ...describeDelivery(clock, bytes), event, eventType, delivery, identity, origin, payload, mayReplay: isSmall };
}

/** Tasks of one delivery within `tasks.idempotencyMs`. */
const MAX_RUNS = 100;
/** After these it is worth running again: people redeliver what failed, and what they cancelled. */
const FAILED: ReadonlySet<string | null> = new Set(['permanently_failed', 'cancelled', 'stale']);
/** Outcomes in which other tasks have what the event brought. */
const ELSEWHERE: ReadonlySet<string | undefined> = new Set(['steered', 'merged', 'superseded']);

/**
 * Accepts a delivery's task, or another one where the former failed for good or was cancelled. Each follows under a key of the former, so
 * that of several redeliveries at once one runs.
 */
async function acceptAgain(parts: MakeTaskParts, request: AcceptRequest & { idempotencyKey: string }): Promise<Run> {
  let former: string | null = null;
  let key = request.idempotencyKey;
  for (let run = 0; run < MAX_RUNS; run += 1) {
    const { id, status, outcome, isDuplicate } = await parts.accept({ ...request, idempotencyKey: key });
    if (!isDuplicate || !FAILED.has(status) || ELSEWHERE.has(outcome?.kind)) return { id, status, isDuplicate, former };
    former = `It runs again: its task ${id} ended as ${status}`;
    key = `${request.idempotencyKey}:${id}`;
  }
  throw new MusterError('limit.rate', `This delivery has run ${MAX_RUNS} times already`, { retryAfterMs: RERUN_RETRY_MS });
}

const RERUN_RETRY_MS = 3_600_000;

interface Run extends Pick<Accepted, 'id' | 'status' | 'isDuplicate'> {
  /** What became of the task before, in a sentence; null for none. */
  readonly former: string | null;
}

/** Slack repeats a secret of the application in each body. */
function withoutToken({ provider }: Hook, payload: unknown): unknown {
  if (provider !== 'slack' || typeof payload !== 'object' || payload === null || !('token' in payload)) return payload;
  return { ...payload, token: '[removed]' };
}

function taskOf(hook: Hook, webhook: KnownWebhook, rendering: RenderBounds): AcceptRequest & { idempotencyKey: string } {
  const { event, eventType, delivery, payload } = webhook;
  const view = { event, delivery, payload };
  if (hook.agent === null) throw new MusterError('agent.unknown', 'The hook has no agent');
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
