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

/** Calls the HTTP API as a client does. */
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
  return { status: response.status, headers: response.headers, ms: performance.now() - startedAt, body: read };
}

function readBody(text: string, headers: Headers): unknown {
  if (text === '') return {};
  return /json/.test(headers.get('content-type') ?? '') ? JSON.parse(text) : text;
}
