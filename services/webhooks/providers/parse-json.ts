import { MusterError } from '#shared/errors/index.ts';
import { parseBoundedJson, type JsonBounds } from '#shared/http/index.ts';

/** Throws `request.malformed` when the text is not JSON, and what `parseBoundedJson` throws of JSON over its bounds. */
export function parseJson(text: string, bounds: JsonBounds): unknown {
  try {
    return parseBoundedJson(text, bounds);
  } catch (cause) {
    if (cause instanceof MusterError) throw cause;
    throw new MusterError('request.malformed', 'The body is not JSON', { cause });
  }
}
