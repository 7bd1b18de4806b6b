import { text } from 'node:stream/consumers';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Headers, Response } from 'undici';
import { parseJson, type ProviderError, readProviderError, statusOf, usageOf } from '../../providers/index.ts';

type Json = Readonly<Record<string, unknown>>;

const STREAM = 'text/event-stream';
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;

/**
 * An answer of a model in the form that the AI SDK reads, whatever its server makes of that form:
 *
 * - an error in a body of 200 gets the status that it stands for, one in a stream becomes an error of the stream
 * - usage comes where OpenAI has it
 * - a stream that says `[DONE]` without a reason has ended, and an empty reason is none
 * - a complete answer in place of a stream becomes a stream
 */
export async function adaptAnswer(response: Response, isStream: boolean): Promise<Response> {
  if (!response.ok || response.body === null) return response;
  const type = response.headers.get('content-type') ?? '';
  if (JSON_TYPE.test(type)) return adaptJson(response, await text(response.body), isStream);
  if (!isStream || /^text\/html\b/i.test(type)) return response;
  return rebuilt(
    response,
    response.body.pipeThrough(new TextDecoderStream()).pipeThrough(adaptEvents()).pipeThrough(new TextEncoderStream()),
  );
}

function adaptJson(response: Response, body: string, isStream: boolean): Response {
  const value = parseJson(body);
  const error = readProviderError(value);
  if (error !== null) return rebuilt(response, body, { status: statusOf(error, undefined) });
  if (!isObject(value)) return rebuilt(response, body);
  const adapted = adaptChunk(value);
  if (!isStream || !isAnswer(adapted)) return rebuilt(response, JSON.stringify(adapted));
  return rebuilt(response, `data: ${JSON.stringify(adapted)}\n\ndata: ${DONE}\n\n`, { type: STREAM });
}

type Body = ConstructorParameters<typeof Response>[0];

function rebuilt(response: Response, body: Body, { status = response.status, type }: { status?: number; type?: string } = {}): Response {
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  if (type !== undefined) headers.set('content-type', type);
  return new Response(body, { status, headers });
}

const DONE = '[DONE]';
const IS_DONE = /^\s*\[DONE\]\s*$/i;
/** Of a body without events, which may be a text that says why. */
const MAX_TEXT = 2000;

/** Reads events and writes them in OpenAI's form. */
function adaptEvents(): TransformStream<string, string> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const reader = new EventReader();
  let beginning: string | null = '';
  return new TransformStream({
    transform(piece, controller) {
      parser.feed(piece);
      if (beginning !== null) beginning = events.length > 0 ? null : `${beginning}${piece}`.slice(0, MAX_TEXT);
      for (const event of events.splice(0)) for (const data of reader.read(event)) controller.enqueue(`data: ${data}\n\n`);
    },
    flush(controller) {
      // Comments keep a connection alive; a last event may lack its blank line.
      const rest = beginning?.replaceAll(/^:.*$/gm, '').trim() ?? '';
      if (rest === '') return;
      const data = /^data:\s*(.*)$/s.exec(rest)?.[1] ?? rest;
      for (const each of reader.read({ event: undefined, id: undefined, data })) controller.enqueue(`data: ${each}\n\n`);
    },
  });
}

/** EventReader is responsible for what a stream has said so far of its end. */
class EventReader {
  #hasBegun = false;
  #hasReason = false;

  /** What an event is in OpenAI's form: no line, one, or two. */
  read({ event, data }: EventSourceMessage): string[] {
    if (data.trim() === '') return [];
    if (IS_DONE.test(data)) return this.#hasBegun && !this.#hasReason ? [UNSAID_END, DONE] : [DONE];
    const value = parseJson(data);
    const error = errorOf({ event, data }, value);
    if (error !== null) return [JSON.stringify({ error: { message: error.message, raw: value ?? data } })];
    return isObject(value) ? this.#readChunk(value, data) : [singleLine(data)];
  }

  #readChunk(value: Json, data: string): string[] {
    if (value['type'] === 'ping') return [];
    const adapted = adaptChunk(value);
    this.#hasBegun = true;
    if (choicesOf(adapted).some(({ finish_reason: reason }) => typeof reason === 'string')) this.#hasReason = true;
    return [adapted === value ? singleLine(data) : JSON.stringify(adapted)];
  }
}

/** Also plain text is an error. JSON that cannot be read is left to the SDK, which says so. */
function errorOf({ event, data }: Pick<EventSourceMessage, 'event' | 'data'>, value: unknown): ProviderError | null {
  if (value === undefined && /^\s*[{[]/.test(data)) return null;
  return readProviderError(value ?? data, value === undefined || event === 'error');
}

/** An event of several lines is JSON that may stand on one. */
function singleLine(data: string): string {
  return data.replaceAll(/[\r\n]+/g, ' ');
}

/** The reason that stands for none. */
const UNSAID_END = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'unknown' }] });

/** A chunk or an answer with its usage and its choices where OpenAI has them, and without an error that is none; the same one when it is so. */
function adaptChunk(value: Json): Json {
  const { error: _error, ...rest } = value;
  const usage = usageOf(value) ?? value['usage'];
  const choices = choicesOf(value);
  const adapted = choices.map(adaptChoice);
  const isSame = !('error' in value) && usage === value['usage'] && adapted.every((choice, position) => choice === choices[position]);
  const isChunk = Array.isArray(value['choices']) || (usage === undefined && value['choices'] === undefined);
  if (isSame && isChunk) return value;
  return { ...rest, choices: adapted, ...(usage === undefined ? {} : { usage }) };
}

function adaptChoice(choice: Json): Json {
  const given = choice['delta'] ?? choice['message'];
  const delta = isObject(given) && hasForeignRole(given) ? withoutRole(given) : given;
  const hasForeignReason = !isReason(choice['finish_reason']);
  if (!hasForeignReason && delta === choice['delta']) return choice;
  return { ...choice, ...(delta === undefined ? {} : { delta }), ...(hasForeignReason ? { finish_reason: null } : {}) };
}

/** Ollama sent an empty one with each chunk. */
function isReason(reason: unknown): boolean {
  return reason === undefined || reason === null || (typeof reason === 'string' && reason !== '');
}

function hasForeignRole({ role }: Json): boolean {
  return role !== undefined && role !== null && role !== '' && role !== 'assistant';
}

function withoutRole({ role: _role, ...rest }: Json): Json {
  return rest;
}

function isAnswer(value: Json): boolean {
  return choicesOf(value).some(({ delta }) => isObject(delta));
}

function choicesOf({ choices }: Json): Json[] {
  return Array.isArray(choices) ? choices.filter(isObject) : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
