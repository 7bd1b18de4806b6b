import { Response } from 'undici';
import type { GuardedFetch } from '#shared/agents/guarded-fetch.ts';
import { type EndpointModel, openModelSource } from '#shared/agents/model-source.ts';
import type { ModelSource, StreamPart } from '#shared/models/language-model.ts';
import { accountOf } from '#shared/providers/account.ts';
import { TRACEPARENT } from './agent-run.ts';

/** A request as an endpoint got it. */
export interface SentRequest {
  url: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** What an endpoint answers: with a status of 200 and as a stream by default. */
export interface EndpointAnswer {
  status?: number;
  type?: string;
  headers?: Record<string, string>;
  body: string;
}

/** A model whose endpoint answers its requests so, one after the other and the last one from then on, with what it was sent. */
export function modelAt(
  baseUrl: string,
  answers: readonly EndpointAnswer[],
  options: Partial<EndpointModel> = {},
): { source: ModelSource; sent: SentRequest[] } {
  const sent: SentRequest[] = [];
  const fetch: GuardedFetch = (url, init) => {
    const headers = Object.fromEntries(new Headers(init.headers as Record<string, string>));
    sent.push({ url: String(url), headers, body: JSON.parse(init.body as string) as Record<string, unknown> });
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    if (answer === undefined) throw new Error('No answer is set');
    const { status = 200, type = 'text/event-stream', headers: given = {}, body } = answer;
    return Promise.resolve(new Response(body, { status, headers: { 'content-type': type, ...given } }));
  };
  const endpoint = { baseUrl, apiKey: 'sk' };
  const account = accountOf({}, { ...endpoint, isOperators: true });
  const source = openModelSource({
    ...endpoint,
    account,
    fetch,
    name: 'm',
    traceparent: TRACEPARENT,
    ownCostOf: () => undefined,
    ...options,
  });
  return { source, sent };
}

/** Events of a stream, each with this JSON or text. */
export function events(...data: readonly (object | string)[]): string {
  return data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('');
}

/** A piece of an answer in OpenAI's form. */
export function piece(content: string | null, rest: object = {}): object {
  return { id: 'x', model: 'm', choices: [{ index: 0, delta: content === null ? {} : { content }, ...rest }] };
}

/** The parts of a stream, and the text of them. */
export async function readParts(source: ModelSource, prompt = 'hello'): Promise<{ parts: StreamPart[]; text: string }> {
  const { stream } = await source.modelFor('m').doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: prompt }] }] });
  const parts: StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return { parts, text: parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('') };
}
