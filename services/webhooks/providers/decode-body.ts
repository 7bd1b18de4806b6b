import { MusterError } from '#shared/errors/index.ts';

/**
 * The body as text. Throws `request.malformed` when it is empty or not UTF-8: a lenient decoder would let two different
 * bodies pass for the one that was signed.
 */
export function decodeBody(rawBody: Buffer): string {
  if (rawBody.length === 0) throw new MusterError('request.malformed', 'The body is empty');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rawBody);
  } catch (cause) {
    throw new MusterError('request.malformed', 'The body is not UTF-8', { cause });
  }
}
