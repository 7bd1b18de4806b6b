import { createParser } from 'eventsource-parser';
import { wait } from '#shared/time/index.ts';
import { CliProblem, EXIT, networkProblem, neverArrived, responseProblem } from '../cli-problem.ts';
import type { ApiClient } from '../client/api-client.ts';
import { headersOf, isRepeatable, type McpMessage, negotiatedIn, readMessage } from './mcp-message.ts';

export interface BridgeOptions {
  /** Called for each message, because a fleet that was started again may have another address. */
  readonly connect: () => ApiClient;
  /** Writes a message for the host. */
  readonly write: (text: string) => void;
}

/** Longer than the fleet waits for a task. */
const ANSWER_MS = 120_000;
/** Messages on their way at once; more are refused. */
const MAX_OPEN = 100;
/** The pauses before a message is sent again: together long enough for a process to be replaced. */
const REPEAT_AFTER_MS = [250, 500, 1000, 2000, 4000, 4000];

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const SERVER_ERROR = -32_000;

/** McpBridge is responsible for handing the messages of a host on to the fleet's own server, and its answers back. It knows no tool. */
export class McpBridge {
  readonly #options: BridgeOptions;
  /** Of requests on their way, by their id. */
  readonly #open = new Map<string | number, AbortController>();
  readonly #running = new Set<Promise<void>>();
  #negotiated: string | null = null;

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /** Handles a message of the host: null for one that was too long. Returns at once; the answer comes when it comes. */
  handle(text: string | null): void {
    const message = text === null ? null : readMessage(text);
    if (text === null || message === null) {
      this.#refuse(null, PARSE_ERROR, text === null ? 'The message is too long' : 'This is no message of JSON-RPC');
      return;
    }
    if (message.method === 'notifications/cancelled') {
      this.#cancel(message);
      return;
    }
    // Nobody asks a host here, so no message is an answer.
    if (message.method === undefined) return;
    const running = this.#forward(message, text);
    this.#running.add(running);
    void running.finally(() => this.#running.delete(running));
  }

  /** Resolves when nothing is on its way any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#running);
  }

  #cancel({ params = {} }: McpMessage): void {
    const id = params['requestId'];
    if (typeof id === 'string' || typeof id === 'number') this.#open.get(id)?.abort();
  }

  async #forward(message: McpMessage, text: string): Promise<void> {
    const { id } = message;
    const gone = new AbortController();
    if (id !== undefined) {
      if (this.#open.has(id)) return this.#refuse(id, INVALID_REQUEST, 'A request with this id is on its way');
      if (this.#open.size >= MAX_OPEN) return this.#refuse(id, SERVER_ERROR, `${MAX_OPEN} requests are on their way already`);
      this.#open.set(id, gone);
    }
    try {
      await this.#exchange(message, text, gone.signal);
    } catch (error) {
      // Nobody waits for the answer of a request that was cancelled.
      if (id !== undefined && !gone.signal.aborted) this.#refuse(id, SERVER_ERROR, ...explain(error, message));
    } finally {
      if (id !== undefined) this.#open.delete(id);
    }
  }

  async #exchange(message: McpMessage, text: string, gone: AbortSignal): Promise<void> {
    for (const pauseMs of REPEAT_AFTER_MS) {
      try {
        return await this.#send(message, text, gone);
      } catch (error) {
        if (!mayRepeat(error, message) || !(await wait(pauseMs, gone))) throw error;
      }
    }
    await this.#send(message, text, gone);
  }

  async #send(message: McpMessage, text: string, gone: AbortSignal): Promise<void> {
    const api = this.#options.connect();
    const signal = AbortSignal.any([gone, AbortSignal.timeout(ANSWER_MS)]);
    const response = await api.sendMessage('/mcp', { text, headers: headersOf(message, this.#negotiated), signal });
    try {
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) await this.#readEvents(message, response);
      else await this.#readBody(message, response);
    } catch (error) {
      throw error instanceof CliProblem ? error : networkProblem(error, api.url);
    }
  }

  async #readEvents(message: McpMessage, { body }: Response): Promise<void> {
    const parser = createParser({ onEvent: ({ data }) => this.#answer(message, data) });
    const decoder = new TextDecoder();
    for await (const chunk of body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
  }

  /** A refusal of the protocol has a status of its own and is a message all the same. */
  async #readBody(message: McpMessage, response: Response): Promise<void> {
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    if (!response.ok && !isJson) throw await responseProblem(response);
    const text = (await response.text()).trim();
    if (message.id === undefined) return;
    if (readMessage(text) === null) throw unexpectedAnswer(response);
    this.#answer(message, text);
  }

  #answer({ method, id }: McpMessage, text: string): void {
    if (method === 'initialize') this.#negotiated = negotiatedIn(text);
    // What a notification is answered with is for nobody.
    if (id !== undefined) this.#options.write(text.includes('\n') ? JSON.stringify(JSON.parse(text)) : text);
  }

  #refuse(id: string | number | null, code: number, message: string, data?: object): void {
    this.#options.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...(data ? { data } : {}) } }));
  }
}

function unexpectedAnswer({ url }: Response): CliProblem {
  return new CliProblem(`${url} did not answer with a message of MCP. Is it an address of Muster?`, {
    exitCode: EXIT.failed,
    code: 'answer.unexpected',
  });
}

/** Whether a message may be sent again after this: it did not arrive, or it changes nothing and the fleet may answer later. */
function mayRepeat(error: unknown, message: McpMessage): boolean {
  if (!(error instanceof CliProblem) || error.exitCode !== EXIT.unreachable) return false;
  return neverArrived(error) || isRepeatable(message);
}

function explain(error: unknown, message: McpMessage): [message: string, data: object] {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof CliProblem ? (error.code ?? 'cli.failed') : 'cli.failed';
  const isLost = error instanceof CliProblem && error.exitCode === EXIT.unreachable && !neverArrived(error) && !isRepeatable(message);
  return [isLost ? `${text} The fleet may have done it all the same: list_tasks shows what it has.` : text, { code }];
}
