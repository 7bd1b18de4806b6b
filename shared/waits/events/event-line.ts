import { createHash } from 'node:crypto';
import { lineSchema } from '../../config/index.ts';
import { canonicalJson } from '../../tasks/index.ts';

/** What an event has to have: fields of its data, each with an equal value. */
export type EventMatch = Readonly<Record<string, unknown>>;

/** What an event is called: one line. */
export const eventNameSchema = lineSchema.min(1).max(200);

/** What of an event decides who waits for it. */
export interface NamedEvent {
  name: string;
  /** JSON. */
  data: unknown;
}

/** Longer values stand in the name of a line as their digest. */
const MAX_SHOWN = 100;

/**
 * The line in which runs wait for events of this name with these fields: what holds their tasks. An event names its lines by itself, so that those
 * who wait for others cost it nothing.
 */
export function lineOf(name: string, match: EventMatch): string {
  const fields = Object.keys(match).toSorted();
  return fields.length === 0 ? encodeURIComponent(name) : `${linesWith(name)}${fieldsText(fields)}=${valuesText(fields, match)}`;
}

/** What the lines begin with in which runs wait for events of this name by some of their fields. */
export function linesWith(name: string): string {
  return `${encodeURIComponent(name)}?`;
}

/** The fields of such a line, as they stand in its name. */
export function fieldsIn(line: string): string {
  return line.slice(line.indexOf('?') + 1).split('=', 1)[0] ?? '';
}

/** What all lines of these fields begin with. */
export function linesBy(name: string, fields: string): string {
  return `${linesWith(name)}${fields}=`;
}

/** The line of those who wait for this event by these fields; null when it lacks one of them. */
export function lineFor({ name, data }: NamedEvent, fields: string): string | null {
  const names = fields.split('&').map((field) => decodeURIComponent(field));
  if (!isObject(data) || !names.every((field) => Object.hasOwn(data, field))) return null;
  return `${linesBy(name, fields)}${valuesText(names, data)}`;
}

/** Whether the event is one of those that a run waits for. */
export function isFitting(event: NamedEvent, name: string, match: EventMatch): boolean {
  const fields = Object.keys(match).toSorted();
  if (event.name !== name) return false;
  return fields.length === 0 || lineFor(event, fieldsText(fields)) === lineOf(name, match);
}

function fieldsText(fields: readonly string[]): string {
  return fields.map((field) => encodeURIComponent(field)).join('&');
}

function valuesText(fields: readonly string[], values: EventMatch): string {
  const text = canonicalJson(fields.map((field) => values[field]));
  return text.length <= MAX_SHOWN ? text : `#${createHash('sha256').update(text).digest('base64url')}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
