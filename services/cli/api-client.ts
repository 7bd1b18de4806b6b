import { wait } from '#shared/time/index.ts';
import { CliProblem } from './cli-problem.ts';
import { EXIT } from './exit-codes.ts';
import type { ServerAddress } from './find-server.ts';
import { neverArrived, problemOfNetwork } from './problem-of-network.ts';
import { problemOfResponse } from './problem-of-response.ts';

export interface CallOptions {
  query?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  /** Makes the call safe to repeat: the server answers a repetition with the first one's result. */
  idempotencyKey?: string;
}

const ANSWER_MS = 30_000;
/** Between the tries of a call that is safe to repeat: long enough for a process to be replaced. */
const REPEAT_AFTER_MS = [250, 1000, 2000, 4000];

/** The public HTTP API of one installation, as one key sees it. Every failure is a `CliProblem`. */
export class ApiClient {
  readonly #server: ServerAddress;

  constructor(server: ServerAddress) {
    this.#server = server;
  }

  /** Address of the installation, without a slash at the end. */
  get url(): string {
    return this.#server.url;
  }

  get(path: string, query?: CallOptions['query']): Promise<unknown> {
    return this.#call('GET', path, query ? { query } : {});
  }

  post(path: string, options: CallOptions = {}): Promise<unknown> {
    return options.idempotencyKey === undefined ? this.#call('POST', path, options) : this.#repeat(path, options);
  }

  put(path: string, options: Pick<CallOptions, 'body'>): Promise<unknown> {
    return this.#call('PUT', path, options);
  }

  patch(path: string, options: Pick<CallOptions, 'body'>): Promise<unknown> {
    return this.#call('PATCH', path, options);
  }

  delete(path: string): Promise<unknown> {
    return this.#call('DELETE', path, {});
  }

  /** Opens a stream of server-sent events; `signal` closes it. */
  async stream(path: string, lastEventId: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const headers = { Accept: 'text/event-stream', ...(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId }) };
    const response = await this.#fetch(path, { headers, signal });
    if (response.body === null) throw problemOfNetwork(new Error('the answer has no body'), this.#server.url);
    return response.body;
  }

  /**
   * The reply can be lost after the server has done what was asked; asking again under the same key finds out.
   * A first request that cannot have arrived is not worth the wait.
   */
  async #repeat(path: string, options: CallOptions): Promise<unknown> {
    for (const [tries, pauseMs] of REPEAT_AFTER_MS.entries()) {
      try {
        return await this.#call('POST', path, options);
      } catch (error) {
        if (!(error instanceof CliProblem) || error.exitCode !== EXIT.unreachable) throw error;
        if (tries === 0 && neverArrived(error)) throw error;
        await wait(Math.max(pauseMs, Math.min(error.retryAfterMs ?? 0, 5000)));
      }
    }
    return this.#call('POST', path, options);
  }

  async #call(method: string, path: string, { query = {}, body, idempotencyKey }: CallOptions): Promise<unknown> {
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
    const signal = AbortSignal.timeout(ANSWER_MS);
    const init: RequestInit = { method, headers, signal };
    if (body !== undefined) init.body = JSON.stringify(body);
    const response = await this.#fetch(`${path}${search}`, init);
    try {
      const text = await response.text();
      return text === '' ? null : JSON.parse(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw problemOfNetwork(error, this.#server.url);
      throw new CliProblem(`${response.url} did not answer with JSON: is that a Muster?`, {
        exitCode: EXIT.unreachable,
        code: 'http.no-json',
      });
    }
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const { url, key } = this.#server;
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${key}`);
    // A redirect would hand the key to whoever it names.
    const response = await fetch(`${url}${path}`, { ...init, headers, redirect: 'manual' }).catch((error: unknown) => {
      throw problemOfNetwork(error, url);
    });
    if (!response.ok) throw await problemOfResponse(response);
    return response;
  }
}
