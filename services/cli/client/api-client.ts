import { CLI_AGENT } from '#shared/config/index.ts';
import { wait } from '#shared/time/index.ts';
import { CliProblem, EXIT, networkProblem, neverArrived, responseProblem } from '../cli-problem.ts';
import type { ServerAddress } from './find-server.ts';
import type { z } from 'zod';

interface CallOptions {
  query?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  /** Makes the call safe to repeat: the server answers each repetition with the result of the first call. */
  idempotencyKey?: string;
}

interface SentMessage {
  /** JSON. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const ANSWER_MS = 30_000;
/** How long a file may take, either way. */
const TRANSFER_MS = 600_000;
/** The pauses before a call is repeated: together long enough for a process to be replaced. */
const REPEAT_AFTER_MS = [250, 1000, 2000, 4000];

/** ApiClient is responsible for calls to the HTTP API of one installation with one key. Each failure is a `CliProblem`. */
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
    if (response.body === null) throw networkProblem(new Error('the answer has no body'), this.#server.url);
    return response.body;
  }

  /** The bytes of a file; `signal` gives them up. */
  async download(path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const signals = [AbortSignal.timeout(TRANSFER_MS), ...(signal ? [signal] : [])];
    const response = await this.#fetch(path, { signal: AbortSignal.any(signals) });
    if (response.body === null) throw networkProblem(new Error('the answer has no body'), this.#server.url);
    return response.body;
  }

  /** Sends a file as the body, with the type of the blob. */
  async upload(path: string, query: Record<string, string>, file: Blob): Promise<unknown> {
    const search = new URLSearchParams(query).toString();
    const signal = AbortSignal.timeout(TRANSFER_MS);
    const headers = { Accept: 'application/json', 'Content-Type': file.type };
    return this.#readJson(await this.#fetch(`${path}?${search}`, { method: 'POST', headers, body: file, signal }));
  }

  /**
   * The answer can be lost after the server did its work; the same key then returns the result.
   * When the first request cannot have arrived, waiting is of no use.
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
    return this.#readJson(await this.#fetch(`${path}${search}`, init));
  }

  async #readJson(response: Response): Promise<unknown> {
    try {
      const text = await response.text();
      return text === '' ? null : JSON.parse(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw networkProblem(error, this.#server.url);
      throw new CliProblem(`${response.url} did not answer with JSON. Is it an address of Muster?`, {
        exitCode: EXIT.unreachable,
        code: 'http.no-json',
      });
    }
  }

  /** Sends a message of another protocol. Resolves to whatever is answered, also a refusal. */
  sendMessage(path: string, { text, headers, signal }: SentMessage): Promise<Response> {
    const accept = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };
    return this.#request(path, { method: 'POST', headers: { ...accept, ...headers }, body: text, signal });
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const response = await this.#request(path, init);
    if (!response.ok) throw await responseProblem(response);
    return response;
  }

  async #request(path: string, init: RequestInit): Promise<Response> {
    const { url, key } = this.#server;
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${key}`);
    headers.set('User-Agent', CLI_AGENT);
    // A redirect would send the key to another server.
    return await fetch(`${url}${path}`, { ...init, headers, redirect: 'manual' }).catch((error: unknown) => {
      throw networkProblem(error, url);
    });
  }
}

/** Reads the fields that a command shows. A server of another version may answer with others. */
export function readAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const read = schema.safeParse(answer);
  if (read.success) return read.data;
  const where = read.error.issues.map((issue) => issue.path.join('.') || '(all)').join(', ');
  throw new CliProblem(`The server's answer is not the expected one (${where}). Do server and command have the same version?`, {
    exitCode: EXIT.failed,
    code: 'answer.unexpected',
  });
}
