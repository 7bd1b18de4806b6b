import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { type Answer, type EventStream, route, type Route } from '#shared/http/index.ts';
import { type AnswerRef, findAnswer, followAnswer, type FollowPorts, waitForAnswer } from '../output/follow-answer.ts';
import type { RunAnswer } from '../output/run-answer.ts';
import { failureOf, statusOf } from '../failure.ts';
import type { AcceptPorts } from '../requests/accept-request.ts';
import { beginAnswer } from '../requests/begin-answer.ts';
import { chatSchema, readChat } from '../requests/chat-request.ts';
import { maxRequestBytes } from '../requests/max-bytes.ts';
import { callsChunk, chatChunk, chatCompletion, finishReasonOf, type Head, headOf, usageChunk } from './chat-object.ts';

export interface ChatPorts extends AcceptPorts, FollowPorts {
  readonly config: { readonly settings: Settings };
}

/** `POST /openai/v1/chat/completions`: a task, whose answer is awaited or streamed. */
export function createChat(ports: ChatPorts): Route {
  const path = '/openai/v1/chat/completions';
  return route({
    method: 'post',
    path,
    operationId: 'createChatCompletion',
    summary: 'Answer a chat by a task',
    scope: 'submit',
    audit: 'work',
    maxBodyBytes: maxRequestBytes(ports.config.settings),
    request: { body: chatSchema },
    responses: { 200: z.unknown() },
    handle: async ({ body }, call) => {
      const ref = await beginAnswer(ports, call, readChat(body), { path, body });
      const { model, stream, stream_options: options } = body;
      if (stream !== true) return { status: 200, awaited: (gone) => answerChat(ports, ref, { model, gone }) };
      const answer = await findAnswer(ports.ledger, ref);
      const withUsage = options?.include_usage === true;
      return { status: 200, events: (events) => streamChat(ports, answer, { model, withUsage, events }) };
    },
  });
}

async function answerChat(ports: ChatPorts, ref: AnswerRef, { model, gone }: { model: string; gone: AbortSignal }): Promise<Answer> {
  const answer = await waitForAnswer(ports, ref, gone);
  const failure = failureOf(answer);
  if (failure === null) return { status: 200, body: chatCompletion(answer, model) };
  // After its headers, an answer without choices: the client finds why.
  const body = { object: 'chat.completion', ...headOf(answer, model), choices: [], error: failure };
  return { status: statusOf(failure), body, headers: { 'x-should-retry': 'false' } };
}

interface ChatStream {
  model: string;
  withUsage: boolean;
  events: EventStream;
}

/** What was sent already cannot be taken back in a chat. */
const BEGUN_AGAIN = {
  message: 'The answer was begun again after a failure, and differs from what was streamed: ask again',
  type: 'server_error',
  param: null,
  code: 'answer_restarted',
};

async function streamChat(ports: ChatPorts, first: RunAnswer, { model, withUsage, events }: ChatStream): Promise<void> {
  const head = headOf(first, model);
  const send = async (data: object): Promise<void> => await events.write(`data: ${JSON.stringify(data)}\n\n`);
  await send(chatChunk(head, { role: 'assistant', content: '', refusal: null }));
  for await (const step of followAnswer(ports, first, events.signal)) {
    if (step.kind === 'restart') return await send({ error: BEGUN_AGAIN });
    if (step.kind === 'delta') await send(chatChunk(head, { content: step.text }));
    else for (const data of lastChunks(head, step.answer, withUsage)) await send(data);
    if (step.kind === 'ended' && failureOf(step.answer) === null) await events.write('data: [DONE]\n\n');
  }
}

function lastChunks(head: Head, answer: RunAnswer, withUsage: boolean): object[] {
  const failure = failureOf(answer);
  if (failure) return [{ error: failure }];
  const end = chatChunk(head, {}, finishReasonOf(answer));
  return [...callsChunk(head, answer), end, ...(withUsage ? [usageChunk(head, answer)] : [])];
}
