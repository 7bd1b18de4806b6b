import type { IncomingHttpHeaders } from 'node:http';
import { MusterError } from '#shared/errors/index.ts';

/** A header's value, or null when it is missing or empty. Throws `request.malformed` when it came as a list. */
export function readHeader(headers: IncomingHttpHeaders, name: string): string | null {
  const key = name.toLowerCase();
  // Only own properties: a hook may name its header, and `constructor` is on every object.
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  if (Array.isArray(value)) throw new MusterError('request.malformed', `The header ${name} came more than once`);
  return value?.trim() || null;
}
