import type { Request, RequestHandler, Response } from 'express';
import { type ErrorCode, MusterError } from '#shared/errors/index.ts';
import {
  contextOf,
  readRawBody,
  type RefusalLimit,
  sendProblem,
  type ServerLoad,
  toMusterError,
  type JsonBounds,
} from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { StoredDelivery } from './deliveries/hook-delivery.ts';
import type { HookStore } from './hook-store.ts';
import { choosePriority, type Hook, HOOK_ID } from './hook.ts';
import { createHash } from 'node:crypto';
import type { Accepted, AcceptRequest } from '#shared/queue/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';
import type { Clock } from '#shared/time/index.ts';
import { type IncomingWebhook, PROVIDERS, verifyWebhook, type WebhookEvent, type WebhookOutcome } from './providers/registry.ts';
import { type RenderBounds, renderSession, renderTemplate } from './templates/render-template.ts';

interface ReceiveHookParts extends AnswerWebhookParts {
  readonly store: HookStore;
  readonly log: Log;
  readonly maxBodyBytes: number;
  /** Used where this is mounted without the server, which has its own. */
  readonly load: ServerLoad;
  /** Counts refused requests by address. */
  readonly refusals: RefusalLimit;
  isTenantDisabled(tenant: string): boolean;
}

/** A longer body is never written out for its record. */
const MAX_KEPT_BYTES = 65_536;

export const RECEIVER_PATH = '/hooks/:id';

/**
 * `POST /hooks/:id`: looks up the hook, reads the body as it came, and makes the task. It needs no key: the signature proves the sender.
 * Answers 404 `hook.not-found` for an unknown or disabled hook, 413 for a body over the bound, 415 for a compressed body, and errors of
 * `answerWebhook`.
 */
export function receiveHook(parts: ReceiveHookParts): RequestHandler {
  return async (request: Request, response: Response): Promise<void> => {
    const id = String(request.params['id']);
    const context = contextOf(request, parts.log, parts.load);
    context.route = RECEIVER_PATH;
    try {
      parts.refusals.assertOpen(request.ip);
      // Before the body, so that no sender makes us read 25 MB for an unknown hook.
      const hook = await findEnabled(parts, id);
      context.tenant = hook.tenant;
      const reading = readRawBody(request, response, { maxBytes: parts.maxBodyBytes, bodies: context.load.bodies });
      const rawBody = await reading.catch((error: unknown) => {
        recordRefused(parts, hook, { error, rawBody: null });
        throw error;
      });
      const { headers } = request;
      const { status, body } = await answerWebhook(parts, hook, { rawBody, headers, traceparent: context.traceparent });
      context.log.info(
        { event: 'webhook.accepted', hook: id, tenant: hook.tenant, provider: hook.provider, answer: body },
        'webhook accepted',
      );
      response.status(status).json(body);
    } catch (error) {
      const { code, message: reason } = toMusterError(error);
      context.log.info({ event: 'webhook.refused', hook: HOOK_ID.test(id) ? id : null, code, reason }, 'webhook refused');
      if (isSendersFault(code)) void parts.refusals.count(request.ip);
      sendProblem(response, error, context.log);
    }
  };
}

/** Limits and failures of ours do not count. */
function isSendersFault(code: ErrorCode): boolean {
  return code.startsWith('request.') || code === 'auth.bad-signature' || code === 'hook.not-found';
}

/** Unknown, disabled, or of a disabled tenant: the answer is the same, so that a sender learns nothing from it. */
async function findEnabled(parts: ReceiveHookParts, id: string): Promise<Hook> {
  const hook = HOOK_ID.test(id) ? await parts.store.findAnywhere(id) : null;
  if (hook?.enabled && !parts.isTenantDisabled(hook.tenant)) return hook;
  throw new MusterError('hook.not-found', 'There is no such hook');
}

export interface AnswerWebhookParts {
  readonly clock: Clock;
  /** Bounds of the task's input, and of the work of rendering it. */
  readonly rendering: RenderBounds;
  /** Bounds of a body. */
  readonly bounds: JsonBounds;
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** How long deliveries are remembered, ms. */
  readonly idempotencyMs: number;
  /** Keeps what became of a request. */
  record(hook: Hook, delivery: StoredDelivery): void;
  accept(request: AcceptRequest): Promise<Pick<Accepted, 'id' | 'status' | 'isDuplicate'>>;
}

/** A request of a sender. */
interface PostedWebhook extends Pick<IncomingWebhook, 'rawBody' | 'headers'> {
  /** W3C trace context of the request. */
  readonly traceparent?: string;
}

/** The task of an event: 202 for a new one, 200 for that of an earlier delivery. */
interface TaskAnswer {
  readonly status: 200 | 202;
  readonly body: { id: string; status: string | null };
}

export type WebhookAnswer = TaskAnswer | { readonly status: 200; readonly body: { challenge: string } };

/**
 * Verifies a sender's request to a hook and makes its task. Answers 202 for a new task, 200 with the same task for a repeated delivery and
 * for a provider's handshake. Throws `auth.bad-signature`, `request.malformed`, `request.too-large`, `request.invalid`, and what accepting
 * throws (limits, unknown agent, Redis away).
 */
export async function answerWebhook(parts: AnswerWebhookParts, hook: Hook, posted: PostedWebhook): Promise<WebhookAnswer> {
  const { rawBody, traceparent } = posted;
  const outcome = await verify(parts, hook, posted).catch((error: unknown) => {
    recordRefused(parts, hook, { error, rawBody });
    throw error;
  });
  if (outcome.kind === 'challenge') {
    parts.record(hook, { ...recordOf(parts, { bytes: rawBody.length }), verdict: 'handshake' });
    return { status: 200, body: { challenge: outcome.challenge } };
  }
  const delivery = await findFirstDelivery(parts, hook, { rawBody, delivery: outcome.delivery ?? digestOf(hook.id, rawBody) });
  return await makeTaskOf(parts, hook, { ...outcome, delivery, bytes: rawBody.length, origin: 'sender' }, traceparent);
}

async function verify({ bounds, clock }: AnswerWebhookParts, hook: Hook, { rawBody, headers }: PostedWebhook): Promise<WebhookOutcome> {
  const { secret, options } = hook;
  return await verifyWebhook(hook.provider, { rawBody, headers, secret, options, bounds, nowMs: clock.now() });
}

interface KnownWebhook extends Pick<WebhookEvent, 'event' | 'eventType' | 'payload'> {
  readonly delivery: string;
  readonly bytes: number;
  readonly origin: StoredDelivery['origin'];
}

/** Makes the task of an event whose sender is known, and records the delivery. Throws what accepting throws. */
export async function makeTaskOf(parts: AnswerWebhookParts, hook: Hook, webhook: KnownWebhook, traceparent?: string): Promise<TaskAnswer> {
  const { event, eventType, delivery, bytes, origin } = webhook;
  const isSmall = bytes <= MAX_KEPT_BYTES;
  const payload = isSmall ? (JSON.stringify(withoutToken(hook, webhook.payload)) ?? 'null') : '';
  const known = { ...recordOf(parts, { bytes }), event, eventType, delivery, origin, payload, mayReplay: isSmall };
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

function recordRefused(parts: AnswerWebhookParts, hook: Hook, { error, rawBody }: { error: unknown; rawBody: Buffer | null }): void {
  const payload = rawBody?.toString('utf8', 0, MAX_KEPT_BYTES) ?? '';
  parts.record(hook, { ...recordOf(parts, { bytes: rawBody?.length ?? null }), ...refusalOf(error), payload });
}

function refusalOf(error: unknown): Pick<StoredDelivery, 'verdict' | 'code' | 'reason'> {
  const { code, message } = toMusterError(error);
  return { verdict: 'refused', code, reason: message };
}

function recordOf({ clock }: AnswerWebhookParts, { bytes }: Pick<StoredDelivery, 'bytes'>): Omit<StoredDelivery, 'verdict'> {
  const at = new Date(clock.now()).toISOString();
  const unknown = { code: null, reason: null, event: null, eventType: null, delivery: null, taskId: null };
  return { at, origin: 'sender', ...unknown, bytes, payload: '', mayReplay: false };
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
    priority: choosePriority(hook.priority, eventType),
    ...(session === null ? {} : { session }),
    context: { hook: hook.id, provider: hook.provider, event, event_type: eventType, delivery },
    idempotencyKey: `hook:${hook.id}:${delivery}`,
    // Not the bytes: a sender may repeat a delivery with slightly different ones.
    idempotencyBody: delivery,
  };
}

/** The id of a delivery that has none, so that repeated bytes make no second task. */
function digestOf(hookId: string, rawBody: Buffer): string {
  return `sha256-${createHash('sha256').update(hookId).update('\n').update(rawBody).digest('hex')}`;
}

/**
 * The id of the delivery that first brought this body to the hook. Equal bodies under different ids are one event, except for hooks with
 * `equalBodies: 'each'` and providers that sign the id or have no signature.
 */
async function findFirstDelivery(
  { redis, keys, idempotencyMs }: AnswerWebhookParts,
  { id, tenant, provider, options }: Hook,
  { rawBody, delivery }: { rawBody: Buffer; delivery: string },
): Promise<string> {
  const isEachAnEvent = options !== null && 'equalBodies' in options && options.equalBodies === 'each';
  if (!PROVIDERS[provider].signsBodyOnly || isEachAnEvent) return delivery;
  const key = keys.tenant(tenant).hookBody(id, createHash('sha256').update(rawBody).digest('base64url'));
  const command = ['SET', delivery, 'NX', 'PX', idempotencyMs] as const;
  if ((await writeOfTenant({ redis, keys }, { tenant, key, command })) !== null) return delivery;
  // The key may expire between the two calls; then the delivery is new.
  return (await redis.get(key)) ?? delivery;
}
