import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenapiDocument } from '#shared/http/openapi/complete-document.ts';

export interface Reply {
  status: number;
  headers: Headers;
  /** From the call to the end of the answer. */
  ms: number;
  /** JSON, or text where the answer is none; `{}` for an empty one. Tests read answers of every shape; a missing field fails them. */
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export interface CallOptions {
  /** The key to send; null for none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as JSON; a string as it is. */
  body?: unknown;
}

/** Calls the HTTP API as a client does. Throws for a problem that the documentation of the call does not have. */
export async function callApi(method: string, url: string, { key = null, headers = {}, body }: CallOptions = {}): Promise<Reply> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const read: unknown = readBody(await response.text(), response.headers);
  assertDocumented(method, url, read);
  return { status: response.status, headers: response.headers, ms: performance.now() - startedAt, body: read };
}

function readBody(text: string, headers: Headers): unknown {
  if (text === '') return {};
  return /json/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}

/** The operations of docs/openapi.json, each with the codes that its problems have. */
interface Documented {
  method: string;
  path: RegExp;
  codes: ReadonlySet<string>;
}

let known: Documented[] | undefined;

function readDocument(): Documented[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8');
  const { paths, components } = JSON.parse(text) as OpenapiDocument & {
    components: { responses: Record<string, { description: string }> };
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => {
      const texts = Object.values(responses as Record<string, { description?: string; $ref?: string }>).map(
        ({ description, $ref = '' }) => description ?? components.responses[$ref.split('/').at(-1) ?? '']?.description ?? '',
      );
      const codes = new Set(texts.flatMap((each) => [...each.matchAll(/`([a-z]+\.[a-z-]+)`/g)].map(([, code = '']) => code)));
      return { method: method.toUpperCase(), path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), codes };
    }),
  );
}

/** Throws for the answer of a documented operation that is a problem with a code which its documentation does not name. */
function assertDocumented(method: string, url: string, body: unknown): void {
  const code = typeof body === 'object' && body !== null && 'code' in body && 'title' in body ? body.code : undefined;
  if (typeof code !== 'string') return;
  const { pathname } = new URL(url);
  const fitting = (known ??= readDocument()).filter((each) => each.method === method && each.path.test(pathname));
  if (fitting.length === 0 || fitting.some(({ codes }) => codes.has(code))) return;
  throw new Error(`${method} ${pathname} answered ${code}: name it in the \`errors\` of its route, and run \`npm run openapi\``);
}
