import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { assertFormBounds, isFormType, type JsonBounds, parseBoundedJson } from '#shared/http/index.ts';
import type { IncomingWebhook, WebhookEvent } from './webhook-provider.ts';

/** Reading what providers send: headers, bodies, names. Every function throws `request.malformed` for what it cannot read. */

const MAX_NAME_CHARACTERS = 200;
/** Control characters have no place in a name, and would break lines in logs and prompts. */
const CONTROL = /\p{Cc}/u;
/** What an event is called whose sender gives it no name. */
const UNNAMED_EVENT = 'unknown';

/** A header's value, or null when it is missing or empty. A list of values is malformed. */
export function readHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const key = name.toLowerCase();
  // Only own properties: a hook may name its header, and `constructor` is on every object.
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  if (Array.isArray(value)) throw new MusterError('request.malformed', `The header ${name} came more than once`);
  return value?.trim() || null;
}

/**
 * The body as text. An empty one is malformed, and one that is not UTF-8: a lenient decoder would let two different bodies pass for
 * the one that was signed.
 */
export function decodeBody(rawBody: Buffer): string {
  if (rawBody.length === 0) throw new MusterError('request.malformed', 'The body is empty');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
  } catch (cause) {
    throw new MusterError('request.malformed', 'The body is not UTF-8', { cause });
  }
}

/** Throws what `parseBoundedJson` throws of JSON over its bounds, too. */
export function parseJson(text: string, bounds: JsonBounds): unknown {
  try {
    return parseBoundedJson(text, bounds);
  } catch (cause) {
    if (cause instanceof MusterError) throw cause;
    throw new MusterError('request.malformed', 'The body is not JSON', { cause });
  }
}

/** JSON, or a form when the headers say so: the JSON in its field `payload`, or without that field all its fields. */
export function parseJsonOrForm(text: string, { headers, bounds }: Pick<IncomingWebhook, 'headers' | 'bounds'>): unknown {
  if (!isFormType(readHeader(headers, 'content-type') ?? '')) return parseJson(text, bounds);
  assertFormBounds(text, bounds);
  const fields = new URLSearchParams(text);
  const payload = fields.get('payload');
  return payload === null ? Object.fromEntries(fields) : parseJson(payload, bounds);
}

/** A field of a payload by its own name; undefined when the payload is no object or lacks it. */
export function readField(payload: unknown, name: string): unknown {
  return typeof payload === 'object' && payload !== null ? Object.getOwnPropertyDescriptor(payload, name)?.value : undefined;
}

/** An event's name or a delivery's id, as it came; null when there is none. It has to be a short line of text. */
export function readName(what: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > MAX_NAME_CHARACTERS || CONTROL.test(value)) {
    throw new MusterError('request.malformed', `The ${what} is not a line of at most ${MAX_NAME_CHARACTERS} characters`);
  }
  return value;
}

/** The event's name: the header's, else the payload's `type`, else its `event` when that is a name. */
export function readEventName(payload: unknown, header: string | null): string {
  const name = readName('event', header) ?? readName('type', readField(payload, 'type'));
  if (name !== null) return name;
  const event = readField(payload, 'event');
  return (typeof event === 'string' ? readName('event', event) : null) ?? UNNAMED_EVENT;
}

/** The name of an HTTP header, as a hook gives it. */
export const headerNameSchema = z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'expected the name of an HTTP header');

/** Where a hook may say that event and delivery are named. */
export const nameHeaders = {
  /** The header that names the event. By default the payload's `type` or `event`. */
  eventHeader: headerNameSchema.optional(),
  /** The header that holds the id of the delivery. By default a digest of the body stands in for it. */
  deliveryHeader: headerNameSchema.optional(),
};

export interface NameHeaders {
  readonly eventHeader?: string | undefined;
  readonly deliveryHeader?: string | undefined;
}

/** Reads a JSON body whose sender was checked, or needs no check, with names from the headers that the hook says. */
export function readNamedWebhook(
  { rawBody, headers, bounds }: IncomingWebhook,
  { eventHeader, deliveryHeader }: NameHeaders,
): WebhookEvent {
  const payload = parseJson(decodeBody(rawBody), bounds);
  const event = readEventName(payload, eventHeader === undefined ? null : readHeader(headers, eventHeader));
  const delivery = deliveryHeader === undefined ? null : readName('delivery id', readHeader(headers, deliveryHeader));
  return { kind: 'event', event, eventType: event, delivery, payload };
}
