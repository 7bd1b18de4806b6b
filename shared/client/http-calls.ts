import { ClientError, errorOfAnswer, isTemporary } from './client-error.ts';
import { pause } from './pause.ts';

/** What every call needs. */
export interface CallOptions {
  /** The address of the fleet, such as `https://muster.example.com`. */
  url: string;
  /** An API key, or the token of a visitor for what visitors may do. */
  key: string;
  /**
   * How long a call is tried again while the fleet does not answer or asks to come later, and how long a stream waits to be resumed. 0 for
   * never. What asks to come later than that rejects at once. Defaults to 30 s.
   */
  retryForMs?: number | undefined;
  /** Longest wait for one answer, apart from uploads and streams. Defaults to 30 s. */
  timeoutMs?: number | undefined;
  /** What sends requests. Defaults to the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** A list of values is sent one by one. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
type QueryValue = string | number | boolean | null | undefined;

/** One request, and whether it may be sent twice. */
export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Query | undefined;
  json?: unknown;
  /** A body that is not JSON. */
  file?: Blob | undefined;
  headers?: Readonly<Record<string, string>>;
  /** Makes a POST safe to repeat: the fleet answers each repetition with the result of the first. */
  idempotencyKey?: string | undefined;
  /** Of a POST without a key: whether sending it twice does what sending it once does. */
  isRepeatable?: boolean;
  signal?: AbortSignal | undefined;
}

const DEFAULT_RETRY_MS = 30_000;
const DEFAULT_TIMEOUT_MS = 30_000;
/** How long a file may take. */
const TRANSFER_MS = 600_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** HttpCalls is responsible for requests with one key to one fleet: each is answered, or repeated while that is safe, or rejects. */
export class HttpCalls {
  readonly retryForMs: number;
  readonly #options: CallOptions;
  readonly #origin: string;

  constructor(options: CallOptions) {
    if (!URL.canParse(options.url)) throw new ClientError('client.invalid', `url: expected an address, got "${options.url}"`);
    this.#options = options;
    this.#origin = options.url.replace(/\/+$/, '');
    this.retryForMs = options.retryForMs ?? DEFAULT_RETRY_MS;
  }

  /** Sends a request and reads the JSON of its answer; null for an answer without a body. */
  async json<Body>(request: ApiRequest): Promise<Body> {
    return await this.#repeat(request, async (response) => {
      const text = await response.text();
      if (text === '') return null as Body;
      try {
        return JSON.parse(text) as Body;
      } catch (cause) {
        throw new ClientError('client.unreadable', `${response.url} did not answer with JSON`, { status: response.status, cause });
      }
    });
  }

  /** Sends a request and reads the bytes of its answer. */
  async bytes(request: ApiRequest): Promise<Blob> {
    return await this.#repeat(request, (response) => response.blob());
  }

  /** Opens one connection, without repeating; `signal` closes it. */
  async open(request: ApiRequest & { signal: AbortSignal }): Promise<Response> {
    return await this.#fetch(request, request.signal);
  }

  async #repeat<T>(request: ApiRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const mayRepeat = request.method !== 'POST' || request.idempotencyKey !== undefined || request.isRepeatable === true;
    const deadline = performance.now() + this.retryForMs;
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#try(request, read);
      } catch (error) {
        const pauseMs = pauseBefore(tries, error);
        if (!(mayRepeat || wasRefused(error)) || pauseMs === null || performance.now() + pauseMs > deadline) throw error;
        await pause(pauseMs, request.signal);
      }
    }
  }

  /** One try, within its time, from the request to the last byte of the answer. */
  async #try<T>(request: ApiRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const { signal } = request;
    signal?.throwIfAborted();
    const timeoutMs = request.file === undefined ? (this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS) : TRANSFER_MS;
    const connection = new AbortController();
    const abort = (): void => connection.abort();
    const timer = setTimeout(abort, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await read(await this.#fetch(request, connection.signal));
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ClientError) throw error;
      throw unreachable(this.#origin, error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /** Rejects with a `ClientError` for an answer that is no success, and as `fetch` does without one. */
  async #fetch({ method, path, query, json, file, headers = {}, idempotencyKey }: ApiRequest, signal: AbortSignal): Promise<Response> {
    const send = this.#options.fetch ?? fetch;
    const body = file ?? (json === undefined ? undefined : JSON.stringify(json));
    const response = await send(`${this.#origin}${path}${searchOf(query)}`, {
      method,
      headers: {
        Accept: 'application/json',
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        ...headers,
        Authorization: `Bearer ${this.#options.key}`,
      },
      ...(body === undefined ? {} : { body }),
      // Another server may not get the key.
      redirect: 'error',
      signal,
    });
    if (!response.ok) throw await errorOfAnswer(response);
    return response;
  }
}

/** Whether the fleet did nothing but refuse. After any other failure it may have done what it could not answer any more. */
function wasRefused(error: unknown): boolean {
  return error instanceof ClientError && error.status === 429;
}

/** The pause before the next try; null when another try is of no use. */
export function pauseBefore(tries: number, error: unknown): number | null {
  if (!(error instanceof ClientError) || !isTemporary(error)) return null;
  // Callers that were refused together do not come back together.
  const backoff = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries) * (0.5 + Math.random() / 2);
  return Math.max(backoff, error.retryAfterMs ?? 0);
}

export function unreachable(origin: string, cause: unknown): ClientError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ClientError('client.unreachable', `${origin} does not answer: ${why}`, { cause });
}

function searchOf(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) if (each !== undefined && each !== null) search.append(name, String(each));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}
