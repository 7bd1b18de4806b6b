import type { Request, Response } from 'express';
import type { OpenBodies } from './open-bodies.ts';
import { readBytes } from './read-bytes.ts';

/**
 * Reads a body of at most `maxBytes` as it came: what signatures are over. A compressed one is refused, as it could be another to its
 * sender than to us.
 * Errors: `request.malformed`, `request.too-large`, `request.timeout`, `request.unsupported-media-type`, `limit.bodies`.
 */
export async function readRawBody(
  request: Request,
  response: Response,
  options: { maxBytes: number; bodies: OpenBodies },
): Promise<Buffer> {
  return (await readBytes(request, response, { ...options, mayInflate: false })).bytes;
}
