import express, { type Request, type Response } from 'express';
import { readWithin } from './read-within.ts';

/**
 * Reads a body of at most `maxBytes` as it came: what signatures are over. A compressed one is refused, as it could be another to its
 * sender than to us.
 * Errors: `request.malformed`, `request.too-large`, `request.unsupported-media-type`.
 */
export function readRawBody(maxBytes: number): (request: Request, response: Response) => Promise<Buffer> {
  const read = express.raw({ type: () => true, limit: maxBytes, inflate: false });
  return async (request, response) => {
    await readWithin(read, request, response, maxBytes);
    const body: unknown = request.body;
    return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  };
}
