import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A message as people see it now. */
export interface ShownMessage {
  id: string;
  /** The chat, by the platform's own id. */
  chat: string;
  text: string;
  edits: number;
  /** The labels below it. */
  buttons: string[];
}

/**
 * How a platform says no: later (in 2 s); the chat or the bot's place in it is gone; it is broken and has not done it; or it fails
 * with a 500 after it did what it was asked.
 */
export type Refusal = 'throttled' | 'gone' | 'broken' | 'unsure';

/** One call that the platform got. */
export interface PlatformCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** JSON, or what a form holds. */
  readonly body: Record<string, unknown>;
}

export interface PlatformAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** A request that a platform makes. */
export interface PlatformRequest {
  body: string;
  headers: Record<string, string>;
}

export interface PersonMessage {
  text: string;
  /** Its number in the chat, from 1. */
  number: number;
  chat?: string;
  user?: string;
  /** When the person wrote it, ms since the epoch; by default `timeOf` its number. */
  sentAt?: number;
  /** The message that it replies to, by its id in `shown`. */
  repliesTo?: string;
}

/** A press of a button, by the label that people see. */
export interface ButtonPress {
  label: string;
  chat?: string;
  user?: string;
}

/** The id of the newest button with this label in what a bot sent. `fields`: how the platform calls both. */
export function findButton(calls: readonly PlatformCall[], fields: readonly [id: string, label: string], label: string): string {
  const [idField, labelField] = fields;
  for (const { body } of calls.toReversed()) {
    const button = [...objectsIn(body)].find((each) => typeof each[idField] === 'string' && labelOf(each[labelField]) === label);
    if (button !== undefined) return String(button[idField]);
  }
  throw new Error(`No button says "${label}"`);
}

/** The labels of all buttons in what a bot sent. */
export function labelsIn(body: unknown, [idField, labelField]: readonly [id: string, label: string]): string[] {
  return [...objectsIn(body)].filter((each) => typeof each[idField] === 'string').map((each) => String(labelOf(each[labelField])));
}

function labelOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'text' in value ? value.text : value;
}

/** Every object in a value, also in the JSON that a form holds. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value === 'string' && /^[[{]/.test(value)) yield* objectsIn(JSON.parse(value));
  if (typeof value !== 'object' || value === null) return;
  yield value as Record<string, unknown>;
  for (const each of Object.values(value)) yield* objectsIn(each);
}

const STARTED_AT = Date.now();

/** When the message of this number is written, unless a test says another time: always the same, in order, and never late. */
export function timeOf(number: number): number {
  return STARTED_AT + number * 60_000;
}

/** A chat platform on the loopback with the calls that a bot uses. */
export interface FakePlatform {
  readonly name: string;
  readonly url: string;
  /** What switches the platform on, and leads here. */
  readonly env: Record<string, string>;
  /** What people see, oldest first. */
  readonly shown: ShownMessage[];
  /** The files that people see, oldest first. */
  readonly files: ShownFile[];
  /** What it sends when a person writes and adds a file, which it keeps. Absent where tests make the update themselves. */
  personSends?(message: PersonMessage, file: SentFile): PlatformRequest;
  /** Everything it was asked, oldest first. */
  readonly calls: PlatformCall[];
  /** Times that somebody saw the bot typing. */
  typings: number;
  /** Says no to the next calls that post or edit, once each. */
  refuseNext(...refusals: Refusal[]): void;
  /** What it sends when a person writes to the bot in private. The same number in the same chat is the same message. */
  personWrites(message: PersonMessage): PlatformRequest;
  /** What it sends when a person presses the button of the bot's newest message that has this label. */
  personPresses(press: ButtonPress): PlatformRequest;
  /** The thread of that private chat, as a task's reply has it. */
  threadOf(chat?: string): string;
  readonly close: () => Promise<void>;
}

export interface FakePlatformServer {
  url: string;
  readonly close: () => Promise<void>;
}

/** Serves a platform's API: keeps every call and answers by `respond`. */
export async function servePlatform(calls: PlatformCall[], respond: (call: PlatformCall) => PlatformAnswer): Promise<FakePlatformServer> {
  const server = createServer((request, response) => {
    const answerCall = async (): Promise<void> => {
      const body = await readBody(await buffer(request), request.headers['content-type'] ?? '');
      const call = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
      calls.push(call);
      const answer = respond(call);
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
      // A file is sent as it is.
      response.end(answer.body instanceof Buffer ? answer.body : JSON.stringify(answer.body));
    };
    void answerCall();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readBody(bytes: Buffer<ArrayBuffer>, type: string): Promise<Record<string, unknown>> {
  if (type.startsWith('multipart/')) return await readForm(bytes, type);
  const body = bytes.toString();
  if (type === 'application/octet-stream') return { data: body };
  if (body === '') return {};
  return body.startsWith('{') ? (JSON.parse(body) as Record<string, unknown>) : Object.fromEntries(new URLSearchParams(body));
}

/** A file in a form that a platform was sent. */
export interface SentFile {
  name: string;
  mediaType: string;
  text: string;
}

/** A file as people see it; `method` is the platform's call that showed it. */
export interface ShownFile extends SentFile {
  method: string;
  chat: string;
}

async function readForm(bytes: Buffer<ArrayBuffer>, type: string): Promise<Record<string, unknown>> {
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
  const fields = [...form].map(async ([name, value]): Promise<[string, unknown]> => {
    if (typeof value === 'string') return [name, value];
    return [name, { name: value.name, mediaType: value.type, text: await value.text() } satisfies SentFile];
  });
  return Object.fromEntries(await Promise.all(fields));
}
