import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import { assertFormBounds, isFormType, type JsonBounds, parseBoundedJson } from '#shared/http/index.ts';
import type { IncomingWebhook, WebhookEvent } from './registry.ts';

/** Reads requests of providers (headers, bodies, names), and checks their proofs (secrets, signatures, times). */

const MAX_NAME_CHARACTERS = 200;
/** Control characters have no place in a name, and would break lines in logs and prompts. */
const CONTROL = /\p{Cc}/u;
/** The name of an event that its sender does not name. */
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
 * The body as text. Empty and non-UTF-8 bodies are malformed: a lenient decoder would accept different bodies under one
 * signature.
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

/** The headers that a hook may name for event and delivery. */
export const nameHeaders = {
  /** The header that names the event. By default the payload's `type` or `event`. */
  eventHeader: headerNameSchema.optional(),
  /** The header that holds the id of the delivery. Without it what was signed stands in for it, for minutes. */
  deliveryHeader: headerNameSchema.optional(),
};

interface NameHeaders {
  readonly eventHeader?: string | undefined;
  readonly deliveryHeader?: string | undefined;
}

/** Reads a JSON body after its proof was checked, with event and delivery from the headers that the hook names. */
export function readNamedWebhook(
  { rawBody, headers, bounds }: IncomingWebhook,
  { eventHeader, deliveryHeader }: NameHeaders,
  proved: Pick<WebhookEvent, 'signed' | 'isIdProved'>,
): WebhookEvent {
  const payload = parseJson(decodeBody(rawBody), bounds);
  const event = readEventName(payload, eventHeader === undefined ? null : readHeader(headers, eventHeader));
  const delivery = readDeliveryHeader(headers, deliveryHeader);
  return { kind: 'event', event, eventType: event, delivery, payload, ...proved };
}

/** The delivery's id in the header that a hook names; null when it names none, or none came. */
export function readDeliveryHeader(headers: IncomingHttpHeaders, name: string | undefined): string | null {
  return name === undefined ? null : readName('delivery id', readHeader(headers, name));
}

/** The window that Stripe, Slack and Standard Webhooks name: 5 minutes. */
export const DEFAULT_TOLERANCE_MS = 300_000;

/** The refusal of a webhook that does not prove who sent it: `auth.bad-signature`, 401. */
export function badSignature(reason: string): MusterError {
  return new MusterError('auth.bad-signature', reason);
}

/** A hook without a secret verifies nothing: its sender has not handed one over yet. Errors: `auth.bad-signature`. */
export function requireSecrets(secrets: readonly string[]): readonly string[] {
  if (secrets.length === 0 || secrets.includes('')) throw badSignature("The hook has no secret yet: its sender's handshake hands it over");
  return secrets;
}

/** How a sender writes the time of signing: seconds or milliseconds since 1970, or a date by RFC 3339. */
export const TIMESTAMP_UNITS = ['s', 'ms', 'iso'] as const;

interface SigningTime {
  /** As the header had it. */
  text: string | null;
  unit: (typeof TIMESTAMP_UNITS)[number];
  toleranceMs: number;
  nowMs: number;
}

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Throws `auth.bad-signature` unless the time of signing is within the window, in the past as in the future. */
export function assertRecent(time: SigningTime): void {
  const problem = timeProblem(time);
  if (problem !== null) throw badSignature(problem);
}

/** Why a time of signing does not count; null when it is within the window. */
export function timeProblem({ text, unit, toleranceMs, nowMs }: SigningTime): string | null {
  const form = unit === 'iso' ? DATE : /^\d{1,15}$/;
  if (text === null || !form.test(text)) return `The time of signing is missing or not ${unit === 'iso' ? 'a date' : 'a number'}`;
  const signedMs = unit === 'iso' ? Date.parse(text) : Number(text) * (unit === 's' ? 1000 : 1);
  return Math.abs(nowMs - signedMs) <= toleranceMs ? null : 'The time of signing is outside of the window';
}
