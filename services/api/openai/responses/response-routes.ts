import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { type Call, route, type Route } from '#shared/http/index.ts';
import { removeTask } from '#shared/ledger/index.ts';
import { cancelTree } from '#shared/queue/index.ts';
import { hasScope } from '#shared/tenants/index.ts';
import { isTerminal, type Task } from '#shared/tasks/index.ts';
import { wrongState } from '../../tasks/find-tasks.ts';
import type { ChatPorts } from '../chat/create-chat.ts';
import type { ConversationStore } from '../conversations/conversation-store.ts';
import { findAnswer, waitForAnswer } from '../output/follow-answer.ts';
import type { RunAnswer } from '../output/run-answer.ts';
import { beginAnswer } from '../requests/begin-answer.ts';
import { maxRequestBytes } from '../requests/max-bytes.ts';
import { readResponse, responseSchema } from '../requests/response-request.ts';
import { findResponse } from './find-response.ts';
import { listInputItems } from './input-items.ts';
import { responseObject } from './response-object.ts';
import { streamResponse } from './stream-response.ts';

export interface ResponsePorts extends ChatPorts {
  readonly conversations: ConversationStore;
}

/** `/openai/v1/responses`: tasks that are kept, followed again and continued. */
export function responseRoutes(ports: ResponsePorts): Route[] {
  return [createResponse(ports), getResponse(ports), cancelResponse(ports), deleteResponse(ports), listInputItems(ports)];
}

const responsePathSchema = z.object({ response: z.string() });
const noQuery = z.looseObject({});

/** `POST /openai/v1/responses`. Its answer is awaited, streamed, or read later where it is made in the background. */
function createResponse(ports: ResponsePorts): Route {
  const path = '/openai/v1/responses';
  return route({
    method: 'post',
    path,
    operationId: 'createResponse',
    summary: 'Have a task make a response',
    scope: 'submit',
    audit: 'work',
    maxBodyBytes: maxRequestBytes(ports.config.settings),
    request: { body: responseSchema, query: noQuery },
    responses: { 200: z.unknown() },
    handle: async ({ body }, call) => {
      const asked = await readResponse(ports, call.tenant, body);
      const ref = await beginAnswer(ports, call, asked, { path, body });
      if (body.stream !== true && body.background !== true)
        return { status: 200, awaited: async (gone) => ({ status: 200, body: responseObject(await waitForAnswer(ports, ref, gone)) }) };
      const answer = await findAnswer(ports.ledger, ref);
      if (body.stream !== true) return { status: 200, body: responseObject(answer) };
      return { status: 200, events: (stream) => streamResponse(ports, answer, -1, stream) };
    },
  });
}

const getQuery = z.looseObject({
  stream: z.stringbool().optional(),
  starting_after: z.coerce.number('expected a number').int().min(0).optional(),
});

/** `GET /openai/v1/responses/:response`; with `stream` its events from the first, or behind `starting_after`. */
function getResponse(ports: ResponsePorts): Route {
  return route({
    method: 'get',
    path: '/openai/v1/responses/:response',
    operationId: 'getResponse',
    summary: 'Read a response',
    scope: 'read',
    request: { params: responsePathSchema, query: getQuery },
    responses: { 200: z.unknown() },
    handle: async ({ params, query }, { tenant }) => {
      const answer = await findResponse(ports.ledger, tenant, params.response);
      if (query.stream !== true) return { status: 200, body: responseObject(answer) };
      return { status: 200, events: (stream) => streamResponse(ports, answer, query.starting_after ?? -1, stream) };
    },
  });
}

/** `POST /openai/v1/responses/:response/cancel`. */
function cancelResponse(ports: ResponsePorts): Route {
  return route({
    method: 'post',
    path: '/openai/v1/responses/:response/cancel',
    operationId: 'cancelResponse',
    summary: 'Cancel a response',
    scope: 'submit',
    request: { params: responsePathSchema, query: noQuery },
    responses: { 200: z.unknown() },
    handle: async ({ params }, call) => {
      await stop(ports, call, await findResponse(ports.ledger, call.tenant, params.response));
      return { status: 200, body: responseObject(await findResponse(ports.ledger, call.tenant, params.response)) };
    },
  });
}

/** How long a worker may take to stop a task before the answer says that it goes on, ms. */
const STOP_MS = 5000;

/** Cancels the run of an answer where it has not ended. Returns its task as it is then. */
async function stop(ports: ResponsePorts, { tenant, signal }: Call, { task, part }: RunAnswer): Promise<Task> {
  const { id } = task.body;
  if (isTerminal(task.state.status)) return task;
  await cancelTree(ports.ledger, tenant, id, 'cancelled by request');
  const late = AbortSignal.any([signal, AbortSignal.timeout(STOP_MS)]);
  await waitForAnswer(ports, { tenant, id, part }, late).catch((error: unknown) => {
    if (!late.aborted) throw error;
  });
  return (await findAnswer(ports.ledger, { tenant, id, part })).task;
}

/** `DELETE /openai/v1/responses/:response`: removes the record of its task, which is cancelled first where it has not ended. */
function deleteResponse(ports: ResponsePorts): Route {
  return route({
    method: 'delete',
    path: '/openai/v1/responses/:response',
    operationId: 'deleteResponse',
    summary: 'Remove a response',
    scope: 'submit',
    request: { params: responsePathSchema, query: noQuery },
    responses: { 200: z.unknown() },
    handle: async ({ params }, call) => {
      const { tenant, key, log } = call;
      const answer = await findResponse(ports.ledger, tenant, params.response);
      const { task } = answer;
      if (task.body.keyId !== key?.id && !hasScope(key?.scopes ?? [], 'operate'))
        throw new MusterError('auth.forbidden', 'This response came by another key: removing it needs a key with the scope "operate"');
      const stopped = await stop(ports, call, answer);
      if (!(await removeTask(ports.ledger, stopped))) throw wrongState(stopped.state.status, 'has not ended');
      log.info({ event: 'task.deleted', task: task.body.id, tenant, by: key?.id }, 'the record of a task was removed');
      return { status: 200, body: { id: params.response, object: 'response', deleted: true } };
    },
  });
}
