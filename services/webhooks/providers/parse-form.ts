import type { IncomingHttpHeaders } from 'node:http';
import { assertFormBounds, isFormType, type JsonBounds } from '#shared/http/index.ts';
import { parseJson } from './parse-json.ts';
import { readHeader } from './read-header.ts';

/** Whether the sender says that the body is a form. */
export function isForm(headers: IncomingHttpHeaders): boolean {
  return isFormType(readHeader(headers, 'content-type') ?? '');
}

/** The JSON in the form's field `payload`, or without that field all its fields. Throws like `parseJson`. */
export function parseForm(text: string, bounds: JsonBounds): unknown {
  assertFormBounds(text, bounds);
  const fields = new URLSearchParams(text);
  const payload = fields.get('payload');
  return payload === null ? Object.fromEntries(fields) : parseJson(payload, bounds);
}
