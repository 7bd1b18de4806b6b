import express, { type Request, type RequestHandler, type Response } from 'express';
import { MusterError } from '#shared/errors/muster-error.ts';
import type { OpenStreams } from '#shared/http/open-streams.ts';
import { assertLength } from '#shared/http/read-body.ts';
import { contextOf } from '#shared/http/request-context.ts';
import { sendProblem, toMusterError } from '#shared/http/send-problem.ts';
import type { Log } from '#shared/log/create-log.ts';
import { answerWebhook, type AnswerWebhookParts } from './answer-webhook.ts';
import { HOOK_ID, type Hook } from './hook.ts';
import type { HookStore } from './hook-store.ts';

export interface ReceiveHookParts extends AnswerWebhookParts {
  readonly store: HookStore;
  readonly log: Log;
  readonly maxBodyBytes: number;
  /** For where this is mounted without the server, which has its own. */
  readonly streams: OpenStreams;
  isTenantDisabled(tenant: string): boolean;
}

export const RECEIVER_PATH = '/hooks/:id';

/**
 * `POST /hooks/:id`: looks up the hook, reads the body as it came, and makes the task. It needs no key: the signature
 * proves the sender. Answers 404 `hook.not-found` for a hook that is unknown or disabled, 413 for a body over the bound,
 * 415 for a compressed one, and what `answerWebhook` throws.
 */
export function receiveHook(parts: ReceiveHookParts): RequestHandler {
  // Signatures are over the bytes; a compressed body could be another one to the sender than to us.
  const readRaw = express.raw({ type: () => true, limit: parts.maxBodyBytes, inflate: false });
  return async (request: Request, response: Response): Promise<void> => {
    const id = String(request.params['id']);
    const context = contextOf(request, parts.log, parts.streams);
    context.route = RECEIVER_PATH;
    try {
      // Before the body: nobody makes us read 25 MB for a hook that is not there.
      const hook = await findEnabled(parts, id);
      context.tenant = hook.tenant;
      assertLength(request, parts.maxBodyBytes);
      const rawBody = await readBody(readRaw, request, response);
      const { headers } = request;
      const { status, body } = await answerWebhook(parts, hook, { rawBody, headers, traceparent: context.traceparent });
      context.log.info({ event: 'webhook.taken', hook: id, tenant: hook.tenant, provider: hook.provider, answer: body }, 'webhook taken');
      response.status(status).json(body);
    } catch (error) {
      const { code, message: reason } = toMusterError(error);
      context.log.info({ event: 'webhook.refused', hook: HOOK_ID.test(id) ? id : null, code, reason }, 'webhook refused');
      sendProblem(response, error, context.log);
    }
  };
}

/** Unknown, disabled, or of a disabled tenant: the answer is the same, so that a sender learns nothing from it. */
async function findEnabled(parts: ReceiveHookParts, id: string): Promise<Hook> {
  const hook = HOOK_ID.test(id) ? await parts.store.findAnywhere(id) : null;
  if (hook?.enabled && !parts.isTenantDisabled(hook.tenant)) return hook;
  throw new MusterError('hook.not-found', 'There is no such hook');
}

async function readBody(readRaw: RequestHandler, request: Request, response: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    readRaw(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(bodyProblem(error))));
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

const CODE_BY_STATUS = { 413: 'request.too-large', 415: 'request.unsupported-media-type' } as const;

/** The reader's errors carry an HTTP status; what it cannot read otherwise is malformed. */
function bodyProblem(error: unknown): MusterError {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : null;
  const code = status === 413 || status === 415 ? CODE_BY_STATUS[status] : 'request.malformed';
  return new MusterError(code, 'The body cannot be read', { cause: error });
}
