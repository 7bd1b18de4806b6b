import express, { type Request, type Response } from 'express';
import { MusterError } from '../errors/muster-error.ts';
import { readWithin } from './read-within.ts';

/**
 * Reads a JSON body of at most `maxBytes` into `request.body`; a request without one has none there.
 * Errors: `request.malformed`, `request.too-large`, `request.unsupported-media-type`.
 */
export function readBody(maxBytes: number): (request: Request, response: Response) => Promise<void> {
  const read = express.json({ limit: maxBytes, type: () => true });
  return async (request, response) => {
    if (!hasBody(request)) return;
    if (!request.is(['json', '+json'])) {
      const got = request.get('content-type') ?? 'none';
      throw new MusterError('request.unsupported-media-type', `Content-Type: expected application/json, got ${got}`, { details: { got } });
    }
    await readWithin(read, request, response, maxBytes);
  };
}

function hasBody(request: Request): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}
