import { QueryClient } from '@tanstack/react-query';
import createClient from 'openapi-fetch';
import type { operations, paths } from '#shared/client/openapi.gen.ts';
import { ApiProblem, problemOf } from './api-problem.ts';

/** The API answers within seconds, also while Redis is away, so a longer call hangs. */
const TIMEOUT_MS = 30_000;

/** Calls the API with the sign-in of this browser. Rejects with an `ApiProblem` for an answer that is no success. */
export const api = createClient<paths>({ headers: { Accept: 'application/json' }, fetch: callServer });

/** Sends a request. Without a sign-in it also leaves for the sign-in form. */
export async function callServer(request: Request): Promise<Response> {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  // A page makes several calls as it opens, and starting them takes milliseconds: not within the task that shows it.
  await new Promise((resolve) => setTimeout(resolve));
  const answer = await fetch(request, { credentials: 'same-origin', signal });
  if (answer.ok) return answer;
  if (answer.status === 401) redirectToSignIn();
  throw problemOf(await answer.text(), answer.status);
}

/** Leaves for the sign-in form, which redirects back to this page. */
function redirectToSignIn(): void {
  const { pathname, search } = window.location;
  window.location.assign(`/sign-in?next=${encodeURIComponent(`${pathname}${search}`)}`);
}

/** What a call is answered with. */
export async function answerOf<Body>(call: Promise<{ data?: Body; response: Response }>): Promise<Body> {
  const { data, response } = await call.catch((error: unknown) => {
    throw error instanceof SyntaxError ? unreadable(200) : error;
  });
  // Of an answer without a body nothing is expected.
  if (data === undefined && response.status !== 204) throw unreadable(response.status);
  return data as Body;
}

function unreadable(status: number): ApiProblem {
  return new ApiProblem({ code: 'answer.unreadable', status, detail: 'The server did not answer with JSON. Reload the page.' });
}

/** The items of a list. */
export async function itemsOf<Item>(call: Promise<{ data?: { items: Item[] }; response: Response }>): Promise<Item[]> {
  return (await answerOf(call)).items;
}

/** The part of an address that names one record. */
export const byId = <Id extends string>(id: Id): { params: { path: { id: Id } } } => ({ params: { path: { id } } });

/** Headers of a PUT that makes a record and replaces none. */
export const ONLY_NEW = { 'If-None-Match': '*' };

type Query<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

/** The query of an operation from that of a page's filters, which has the same names, and further values. */
export function queryOf<Operation extends keyof operations>(
  search: string,
  others?: { [Name in keyof Query<Operation>]?: Query<Operation>[Name] },
): Query<Operation> {
  const given = new URLSearchParams(search);
  const filters = [...new Set(given.keys())].map((name) => {
    const values = given.getAll(name);
    return [name, values.length === 1 ? values[0] : values] as const;
  });
  // The server refuses what it does not know.
  return { ...Object.fromEntries(filters), ...others };
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

const KEY_BYTES = 8;

/** A unique random key. `crypto.randomUUID` would need https. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
