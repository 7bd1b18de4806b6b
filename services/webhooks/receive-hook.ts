import type { Request, RequestHandler, Response } from 'express';
import { type ErrorCode, MusterError } from '#shared/errors/index.ts';
import {
  contextOf,
  readRawBody,
  type RefusalLimit,
  type RequestContext,
  sendProblem,
  serveAsSpan,
  type ServerLoad,
  toMusterError,
} from '#shared/http/index.ts';
import type { Log, Traces } from '#shared/log/index.ts';
import { answerHandshake, handshakeOf, writeHandshake } from './answer-handshake.ts';
import { answerWebhook, type AnswerWebhookParts, type WebhookAnswer } from './answer-webhook.ts';
import { refusedDelivery } from './deliveries/describe-delivery.ts';
import type { HookLookup } from './hook-lookup.ts';
import { type Hook, HOOK_ID } from './hook.ts';
import type { JudgedBytes } from './judged-bytes.ts';

export interface ReceiveHookParts extends AnswerWebhookParts {
  /** For addresses that guess. */
  readonly lookup: HookLookup;
  /** The hook of whichever tenant. */
  findHook(id: string): Promise<Hook | null>;
  readonly log: Log;
  /** Without it deliveries are no spans. */
  readonly traces: Traces | undefined;
  readonly maxBodyBytes: number;
  /** Used where this is mounted without the server, which has its own. */
  readonly load: ServerLoad;
  /** Counts refused requests by address and hook. */
  readonly refusals: RefusalLimit;
  /** Bounds what is read of addresses over their refusals. */
  readonly judged: JudgedBytes;
  isTenantDisabled(tenant: string): boolean;
}

export const RECEIVER_PATH = '/hooks/:id';

/** What the refusals of all unknown hooks are counted for. */
const UNKNOWN_HOOKS = 'hooks';

/**
 * `POST /hooks/:id`: looks up the hook, reads the body as it came, and makes the task. It needs no key: the signature proves the sender.
 * Answers 404 `hook.not-found` for an unknown or disabled hook, 413 for a body over the bound, 415 for a compressed body, and errors of
 * `answerWebhook`.
 */
export function receiveHook(parts: ReceiveHookParts): RequestHandler {
  return async (request, response) => {
    await receive(parts, request, response, async (hook) => {
      const context = contextOf(request, parts.log, parts.load);
      const receiver = receiverOf(hook.id);
      const isBlocked = parts.refusals.isBlocked(request.ip, receiver);
      const giveBack = isBlocked ? parts.judged.take(request, receiver) : undefined;
      // Of an address that is refused anyway no more records are written.
      const judging = isBlocked ? { ...parts, record: recordAccepted(parts) } : parts;
      const reading = readRawBody(request, response, { maxBytes: parts.maxBodyBytes, bodies: context.load.bodies });
      const rawBody = await reading.catch((error: unknown) => {
        judging.record(hook, refusedDelivery(parts.clock, error, null));
        throw error;
      });
      const { headers } = request;
      const answer = await answerWebhook(judging, hook, { rawBody, headers, query: queryOf(request), traceparent: context.traceparent });
      parts.refusals.trust(request.ip, receiver);
      giveBack?.();
      writeAnswer(response, answer);
      return answer.kind === 'handshake' ? { handshake: answer.status } : answer.body;
    });
  };
}

function recordAccepted(parts: AnswerWebhookParts): AnswerWebhookParts['record'] {
  return (hook, delivery) => {
    if (delivery.verdict !== 'refused') parts.record(hook, delivery);
  };
}

function writeAnswer(response: Response, answer: WebhookAnswer): void {
  if (answer.kind === 'handshake') writeHandshake(response, answer);
  else if (answer.kind === 'empty') response.status(200).end();
  else response.status(answer.status).json(answer.body);
}

const METHODS = ['GET', 'HEAD', 'OPTIONS'] as const;

/** Handshakes by other methods than POST, of hooks that have one; others go on. Errors as above, and `hook.handshake-refused`. */
export function receiveHandshake(parts: ReceiveHookParts): RequestHandler<{ id: string }> {
  return async (request, response, next) => {
    const method = METHODS.find((each) => each === request.method);
    if (method === undefined || request.path !== '/' || !HOOK_ID.test(request.params.id)) return next();
    await receive(parts, request, response, async (hook) => {
      const handshake = handshakeOf(hook);
      const arrived = { method, headers: request.headers, query: queryOf(request), rawBody: Buffer.alloc(0) };
      const answer = handshake === null ? null : await answerHandshake(parts, { hook, handshake }, arrived);
      if (answer === null) return next();
      writeHandshake(response, answer);
      return { handshake: answer.status };
    });
  };
}

/** Finds the hook of a request and answers; what is refused counts against its address. */
async function receive(
  parts: ReceiveHookParts,
  request: Request<{ id: string }> | Request,
  response: Response,
  answer: (hook: Hook) => Promise<unknown>,
): Promise<void> {
  const id = String(request.params['id']);
  const context = contextOf(request, parts.log, parts.load);
  context.route = RECEIVER_PATH;
  await serveAsSpan(parts.traces, { request, response, context }, () => receiveFor(parts, { id, request, response, context }, answer));
}

interface Received {
  id: string;
  request: Request<{ id: string }> | Request;
  response: Response;
  context: RequestContext;
}

async function receiveFor(
  parts: ReceiveHookParts,
  { id, request, response, context }: Received,
  answer: (hook: Hook) => Promise<unknown>,
): Promise<void> {
  let receiver = UNKNOWN_HOOKS;
  try {
    // Before the body, so that no sender makes us read 25 MB for an unknown hook.
    const hook = await findOpen(parts, id, request.ip);
    receiver = receiverOf(id);
    context.tenant = hook.tenant;
    const answered = await answer(hook);
    if (answered === undefined) return;
    const { tenant, provider } = hook;
    context.log.info({ event: 'webhook.accepted', hook: id, tenant, provider, answer: answered }, 'webhook accepted');
  } catch (error) {
    const { code, message: reason } = toMusterError(error);
    context.log.info({ event: 'webhook.refused', hook: HOOK_ID.test(id) ? id : null, code, reason }, 'webhook refused');
    sendProblem(response, refusalFor(parts, request.ip, receiver, error), context.log);
  }
}

/** What a refused sender gets: of an address over its refusals, when to come back instead of why. */
function refusalFor({ refusals }: ReceiveHookParts, address: string | undefined, receiver: string, error: unknown): unknown {
  if (!isSendersFault(toMusterError(error).code)) return error;
  try {
    refusals.assertOpen(address, receiver);
  } catch (blocked) {
    return blocked;
  }
  void refusals.count(address, receiver);
  return error;
}

function queryOf(request: { originalUrl: string }): URLSearchParams {
  const at = request.originalUrl.indexOf('?');
  return new URLSearchParams(at === -1 ? '' : request.originalUrl.slice(at + 1));
}

function receiverOf(id: string): string {
  return `hooks/${id}`;
}

/**
 * The hook of a request. Guesses block an address for unknown hooks only: it may be a provider's, whose other customers guess. A known hook
 * is therefore found also for such an address, by a read that its guesses share. Errors: `hook.not-found`, `limit.rate`.
 */
async function findOpen(parts: ReceiveHookParts, id: string, address: string | undefined): Promise<Hook> {
  const { refusals, lookup } = parts;
  const mayBeKnown = HOOK_ID.test(id) && (!refusals.isBlocked(address, UNKNOWN_HOOKS) || (await lookup.isKnown(id)));
  const hook = mayBeKnown ? await findEnabled(parts, id) : null;
  if (hook !== null) return hook;
  refusals.assertOpen(address, UNKNOWN_HOOKS);
  throw new MusterError('hook.not-found', 'There is no such hook');
}

/** Null for an unknown or disabled one, or one of a disabled tenant: the answer is the same, so that a sender learns nothing from it. */
async function findEnabled(parts: ReceiveHookParts, id: string): Promise<Hook | null> {
  const hook = await parts.findHook(id);
  return hook?.enabled && !parts.isTenantDisabled(hook.tenant) ? hook : null;
}

/** Limits and failures of ours do not count. */
function isSendersFault(code: ErrorCode): boolean {
  return code.startsWith('request.') || code === 'auth.bad-signature' || code === 'hook.handshake-refused' || code === 'hook.not-found';
}
