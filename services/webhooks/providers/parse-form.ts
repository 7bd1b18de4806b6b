import type { IncomingHttpHeaders } from 'node:http';
import { parseJson } from './parse-json.ts';
import { readHeader } from './read-header.ts';

/** Whether the sender says that the body is a form. */
export function isForm(headers: IncomingHttpHeaders): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(readHeader(headers, 'content-type') ?? '');
}

/** The JSON in the form's field `payload`, or without that field all its fields. Throws `request.malformed`. */
export function parseForm(text: string): unknown {
  const fields = new URLSearchParams(text);
  const payload = fields.get('payload');
  return payload === null ? Object.fromEntries(fields) : parseJson(payload);
}
