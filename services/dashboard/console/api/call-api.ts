import { z } from 'zod';
import { ApiProblem } from './api-problem.ts';

export interface ApiCall {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** The API answers within seconds, also while Redis is away; what takes longer is a connection that hangs. */
const TIMEOUT_MS = 30_000;

const problemSchema = z.object({
  code: z.string(),
  status: z.number(),
  detail: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Calls the API as whoever is signed in, and reads the answer with its schema.
 * Throws an `ApiProblem`; without a sign-in it goes to the form instead, and comes back.
 */
export async function callApi<Answer>(schema: z.ZodType<Answer>, path: string, call: ApiCall = {}): Promise<Answer> {
  const { method = 'GET', body, headers } = call;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await fetch(path, {
    method,
    credentials: 'same-origin',
    headers: { Accept: 'application/json', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]),
  });
  if (answer.status === 401) signInAgain();
  const text = await answer.text();
  const json: unknown = text === '' ? null : parseJson(text);
  if (!answer.ok) throw toProblem(json, answer.status);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new ApiProblem({
    code: 'answer.unreadable',
    status: answer.status,
    detail: 'This page is older or newer than the server. Reload it.',
  });
}

/** Leaves for the sign-in form, which leads back here. */
function signInAgain(): void {
  const { pathname, search } = window.location;
  window.location.assign(`/sign-in?next=${encodeURIComponent(`${pathname}${search}`)}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function toProblem(json: unknown, status: number): ApiProblem {
  const known = problemSchema.safeParse(json);
  return new ApiProblem(known.success ? known.data : { code: 'answer.unreadable', status, detail: `The server answered with ${status}.` });
}
