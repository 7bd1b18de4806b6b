import { MusterError } from '#shared/errors/muster-error.ts';

/** Throws `request.malformed` when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new MusterError('request.malformed', 'The body is not JSON', { cause });
  }
}
