import { z } from 'zod';
import type { AgentMessage } from '#shared/config/index.ts';
import type { Attachment } from '#shared/files/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { CallerWait } from '#shared/waits/index.ts';
import { callId } from '../ids.ts';
import { listQuerySchema, pageOf } from '../lists.ts';
import type { RunAnswer } from '../output/run-answer.ts';
import { findResponse } from './find-response.ts';

/** `GET /openai/v1/responses/:response/input_items`: what the response was requested with, the last first. */
export function listInputItems({ ledger }: { readonly ledger: Ledger }): Route {
  return route({
    method: 'get',
    path: '/openai/v1/responses/:response/input_items',
    operationId: 'listInputItems',
    summary: 'The input of a response',
    scope: 'read',
    request: { params: z.object({ response: z.string() }), query: listQuerySchema },
    responses: { 200: z.unknown() },
    handle: async ({ params, query }, { tenant }) => {
      return { status: 200, body: pageOf(inputItems(await findResponse(ledger, tenant, params.response)), query) };
    },
  });
}

type InputItem = { id: string } & Record<string, unknown>;

/** The messages of a task's request, oldest first; those of its conversation are no part of it. */
export function inputItems({ task: { body }, after: calls }: RunAnswer): InputItem[] {
  if (calls) return outputItems(body.id, calls);
  const { before = [], after = [], carried = 0 } = body.request ?? {};
  const files = (body.attachments ?? []).map(fileOf);
  const own = { role: 'user', text: body.input, files } as const;
  return [...before.slice(carried), own, ...after].flatMap((message, at) => itemsOf(message, `${body.id}_0_${at}`));
}

/** What functions of the caller gave. */
function outputItems(task: string, { seq, answer }: CallerWait): InputItem[] {
  return (answer?.outputs ?? []).map((output, place) => {
    const id = callId({ task, seq, place });
    return { id: id.replace(/^call_/, 'fco_'), type: 'function_call_output', call_id: id, output, status: 'completed' };
  });
}

function fileOf({ name, file, url }: Attachment): object {
  return file === null
    ? { type: 'input_file', filename: name, file_url: url }
    : { type: 'input_file', filename: name, file_id: `file-${file}` };
}

function itemsOf(message: AgentMessage & { files?: readonly object[] }, id: string): InputItem[] {
  if (message.role === 'tool')
    return [{ id: `fco_${id}`, type: 'function_call_output', call_id: message.callId, output: message.text, status: 'completed' }];
  const { role, text, files = [] } = message;
  const part = role === 'user' ? { type: 'input_text', text } : { type: 'output_text', text, annotations: [] };
  const calls = role === 'assistant' ? (message.calls ?? []) : [];
  const said =
    text === '' && calls.length > 0 ? [] : [{ id: `msg_${id}`, type: 'message', role, status: 'completed', content: [part, ...files] }];
  return [
    ...said,
    ...calls.map((call, at) => ({
      id: `fc_${id}_${at}`,
      type: 'function_call',
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
      status: 'completed',
    })),
  ];
}
