import { MusterError } from '#shared/errors/index.ts';

/** Compact JSON. Throws `request.malformed` for what is nested too deeply to be written: the parser takes more than the writer. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (cause) {
    throw new MusterError('request.malformed', 'The body is nested too deeply', { cause });
  }
}
