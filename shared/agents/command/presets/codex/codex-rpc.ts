import { z } from 'zod';
import { truncate } from '../../../../text/index.ts';
import { parseEvent, type TranscriptEvent } from '../preset.ts';

const MAX_MESSAGE = 500;

const idSchema = z.union([z.number(), z.string().max(200)]);
export type RpcId = z.infer<typeof idSchema>;

/** Messages of JSON-RPC, without its header: Codex leaves it out. A request has both, and its ids are its own. */
const messageSchema = z
  .object({
    id: idSchema.optional(),
    method: z.string().max(200).optional(),
    params: z.unknown().optional(),
    result: z.unknown().optional(),
    error: z.object({ code: z.number(), message: z.string() }).optional(),
  })
  .refine(({ id, method }) => id !== undefined || method !== undefined);

/** JSON-RPC's own codes of what is refused. */
export const [METHOD_NOT_FOUND, INVALID_PARAMS] = [-32_601, -32_602];

/** As Codex writes a request: its names stand before what it is about. */
const REQUEST = /^\{"method":"([\w/]{1,200})","id":(\d{1,15}|"[\w-]{1,200}"),/;

/** What a message asks, by its beginning; null for one that is no request. */
export function readRequestBeginning(beginning: string): { readonly method: string; readonly id: RpcId } | null {
  const [, method = '', id = ''] = REQUEST.exec(beginning) ?? [];
  return id === '' ? null : { method, id: idSchema.parse(JSON.parse(id)) };
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
}

type OnAnswer = (result: unknown) => TranscriptEvent[];

interface RpcOptions {
  readonly send: (line: string) => void;
  /** How long the program may take for the answer to a request, ms. */
  readonly answerMs: number;
  readonly onRequest: (method: string, id: RpcId, params: unknown) => TranscriptEvent[];
  readonly onNotification: (method: string, params: unknown) => TranscriptEvent[];
  /** It refuses one of ours; null where it does not answer it in time. */
  readonly onRefused: (method: string, error: RpcError | null) => TranscriptEvent[];
}

/** CodexRpc is responsible for messages to and from a program, a line of JSON each, and for its answers to come in time. */
export class CodexRpc {
  readonly #options: RpcOptions;
  readonly #pending = new Map<RpcId, { readonly method: string; readonly onAnswer: OnAnswer; readonly timer: NodeJS.Timeout }>();
  #calls = 0;

  constructor(options: RpcOptions) {
    this.#options = options;
  }

  call(method: string, params: object, onAnswer: OnAnswer): void {
    const id = (this.#calls += 1);
    const timer = setTimeout(() => {
      this.#pending.delete(id);
      this.#options.onRefused(method, null);
    }, this.#options.answerMs);
    this.#pending.set(id, { method, onAnswer, timer });
    this.#send({ id, method, params });
  }

  notify(method: string): void {
    this.#send({ method });
  }

  answer(id: RpcId, result: object): void {
    this.#send({ id, result });
  }

  refuse(id: RpcId, error: RpcError): void {
    this.#send({ id, error: { ...error, message: truncate(error.message, MAX_MESSAGE) } });
  }

  /** What a line comes to; null for one that is no message. */
  read(line: string): TranscriptEvent[] | null {
    const message = parseEvent(messageSchema, line);
    if (message === null) return null;
    const { id, method, params } = message;
    if (method === undefined) return id === undefined ? [] : this.#takeAnswer(id, message);
    return id === undefined ? this.#options.onNotification(method, params) : this.#options.onRequest(method, id, params);
  }

  /** Waits for no answer any more. */
  close(): void {
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
  }

  #takeAnswer(id: RpcId, { error, result }: { readonly error?: RpcError | undefined; readonly result?: unknown }): TranscriptEvent[] {
    const pending = this.#pending.get(id);
    // Of a request that it was not sent.
    if (pending === undefined) return [];
    clearTimeout(pending.timer);
    this.#pending.delete(id);
    return error === undefined ? pending.onAnswer(result) : this.#options.onRefused(pending.method, error);
  }

  #send(message: object): void {
    this.#options.send(`${JSON.stringify(message)}\n`);
  }
}
