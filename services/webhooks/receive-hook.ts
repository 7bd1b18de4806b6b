import type { Request, RequestHandler, Response } from 'express';
import { type ErrorCode, MusterError } from '#shared/errors/index.ts';
import { contextOf, readRawBody, type RefusalLimit, sendProblem, type ServerLoad, toMusterError } from '#shared/http/index.ts';
import type { Log } from '#shared/log/index.ts';
import { answerWebhook, type AnswerWebhookParts } from './answer-webhook.ts';
import { refusedDelivery } from './deliveries/describe-delivery.ts';
import type { HookLookup } from './hook-lookup.ts';
import type { HookStore } from './hook-store.ts';
import { type Hook, HOOK_ID } from './hook.ts';

interface ReceiveHookParts extends AnswerWebhookParts {
  readonly store: HookStore;
  /** For addresses that guess. */
  readonly lookup: HookLookup;
  readonly log: Log;
  readonly maxBodyBytes: number;
  /** Used where this is mounted without the server, which has its own. */
  readonly load: ServerLoad;
  /** Counts refused requests by address and hook. */
  readonly refusals: RefusalLimit;
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
  return async (request: Request, response: Response): Promise<void> => {
    const id = String(request.params['id']);
    const context = contextOf(request, parts.log, parts.load);
    context.route = RECEIVER_PATH;
    let receiver = UNKNOWN_HOOKS;
    try {
      // Before the body, so that no sender makes us read 25 MB for an unknown hook.
      const hook = await findOpen(parts, id, request.ip);
      receiver = receiverOf(id);
      context.tenant = hook.tenant;
      const reading = readRawBody(request, response, { maxBytes: parts.maxBodyBytes, bodies: context.load.bodies });
      const rawBody = await reading.catch((error: unknown) => {
        parts.record(hook, refusedDelivery(parts.clock, error, null));
        throw error;
      });
      const { headers } = request;
      const { status, body } = await answerWebhook(parts, hook, { rawBody, headers, traceparent: context.traceparent });
      parts.refusals.trust(request.ip, receiver);
      context.log.info(
        { event: 'webhook.accepted', hook: id, tenant: hook.tenant, provider: hook.provider, answer: body },
        'webhook accepted',
      );
      response.status(status).json(body);
    } catch (error) {
      const { code, message: reason } = toMusterError(error);
      context.log.info({ event: 'webhook.refused', hook: HOOK_ID.test(id) ? id : null, code, reason }, 'webhook refused');
      if (isSendersFault(code)) void parts.refusals.count(request.ip, receiver);
      sendProblem(response, error, context.log);
    }
  };
}

function receiverOf(id: string): string {
  return `hooks/${id}`;
}

/**
 * The hook, for an address that is not blocked for it. Guesses block an address for unknown hooks only: it may be a provider's, whose other
 * customers guess. A known hook is therefore found also for such an address, by a read that its guesses share. Errors: `hook.not-found`,
 * `limit.rate`.
 */
async function findOpen(parts: ReceiveHookParts, id: string, address: string | undefined): Promise<Hook> {
  const { refusals, lookup } = parts;
  const isId = HOOK_ID.test(id);
  if (isId) refusals.assertOpen(address, receiverOf(id));
  const mayBeKnown = isId && (!refusals.isBlocked(address, UNKNOWN_HOOKS) || (await lookup.isKnown(id)));
  const hook = mayBeKnown ? await findEnabled(parts, id) : null;
  if (hook !== null) return hook;
  refusals.assertOpen(address, UNKNOWN_HOOKS);
  throw new MusterError('hook.not-found', 'There is no such hook');
}

/** Null for an unknown or disabled one, or one of a disabled tenant: the answer is the same, so that a sender learns nothing from it. */
async function findEnabled(parts: ReceiveHookParts, id: string): Promise<Hook | null> {
  const hook = await parts.store.findAnywhere(id);
  return hook?.enabled && !parts.isTenantDisabled(hook.tenant) ? hook : null;
}

/** Limits and failures of ours do not count. */
function isSendersFault(code: ErrorCode): boolean {
  return code.startsWith('request.') || code === 'auth.bad-signature' || code === 'hook.not-found';
}
