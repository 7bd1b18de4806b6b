import { QueryClient, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { z } from 'zod';
import { ApiProblem, listOf } from './records.ts';

interface ApiCall {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The value to send as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Headers of a PUT that makes a record and replaces none. */
export const ONLY_NEW = { 'If-None-Match': '*' };

/** The API answers within seconds, also while Redis is away, so a longer call hangs. */
const TIMEOUT_MS = 30_000;

const problemSchema = z.object({
  code: z.string(),
  status: z.number(),
  detail: z.string(),
  details: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Calls the API with the sign-in of this browser, and parses the answer with its schema.
 * Throws an `ApiProblem`; without a sign-in it also leaves for the sign-in form.
 */
export async function callApi<Answer>(schema: z.ZodType<Answer>, path: string, call: ApiCall = {}): Promise<Answer> {
  const { method = 'GET', body, headers } = call;
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  // A page makes several calls as it opens, and starting them takes milliseconds: not within the task that shows it.
  await new Promise((resolve) => setTimeout(resolve));
  const answer = await fetch(path, {
    method,
    credentials: 'same-origin',
    headers: { Accept: 'application/json', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: call.signal === undefined ? timeout : AbortSignal.any([call.signal, timeout]),
  });
  if (answer.status === 401) redirectToSignIn();
  const text = await answer.text();
  const json: unknown = text === '' ? null : parseJson(text);
  if (!answer.ok) throw problemOf(json, answer.status);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new ApiProblem({
    code: 'answer.unreadable',
    status: answer.status,
    detail: 'This page is older or newer than the server. Reload it.',
  });
}

/** Leaves for the sign-in form, which redirects back to this page. */
function redirectToSignIn(): void {
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

/** The error that an answer of the API describes. */
export function problemOf(json: unknown, status: number): ApiProblem {
  const known = problemSchema.safeParse(json);
  return new ApiProblem(known.success ? known.data : { code: 'answer.unreadable', status, detail: `The server answered with ${status}.` });
}

const TRIES = 3;

/** Caches answers while they are shown. Retries when the server is away, not when it refuses. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 1000,
        retry: (failures, error) => failures < TRIES && !(error instanceof ApiProblem && error.status < 500),
      },
    },
  });
}

export const personSchema = z.object({
  tenant: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  tenants: z.array(z.string()),
  /** What people call the identity provider; null without one. */
  provider: z.string().nullish(),
});
type Person = z.infer<typeof personSchema>;

/** The person who is signed in. */
export function usePerson(): UseQueryResult<Person> {
  return useQuery({
    queryKey: ['person'],
    queryFn: ({ signal }) => callApi(personSchema, '/console/person', { signal }),
    staleTime: Infinity,
  });
}

const FRESH_MS = 60_000;
const agentsSchema = listOf(z.object({ id: z.string(), hasPlainOutput: z.boolean().default(false) }));

function useAgents(): z.infer<typeof agentsSchema>['items'] {
  const { data } = useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => callApi(agentsSchema, '/v1/agents', { signal }),
    staleTime: FRESH_MS,
  });
  return data?.items ?? [];
}

/** The names of all agents; empty until they are loaded. */
export function useAgentNames(): readonly string[] {
  return useAgents().map(({ id }) => id);
}

/** Whether the output of an agent is the plain output of a program, and no Markdown. */
export function useHasPlainOutput(agent: string | null): boolean {
  return useAgents().some(({ id, hasPlainOutput }) => id === agent && hasPlainOutput);
}

const KEY_BYTES = 8;

/** A unique random key. `crypto.randomUUID` would need https. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
