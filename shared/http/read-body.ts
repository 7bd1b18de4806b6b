import express, { type Request, type Response } from 'express';
import { MusterError } from '../errors/muster-error.ts';

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
    assertLength(request, maxBytes);
    await new Promise<void>((resolve, reject) => {
      read(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(requestError(error, maxBytes))));
    });
  };
}

/** Refuses what says that it is too large before it comes: it would be read to its end first. Errors: `request.too-large`. */
export function assertLength(request: Request, maxBytes: number): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

function tooLarge(maxBytes: number | undefined, cause?: unknown): MusterError {
  return new MusterError('request.too-large', `The body has more than ${maxBytes ?? 'the allowed'} bytes`, {
    details: { maxBytes },
    cause,
  });
}

function hasBody(request: Request): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/** An error of Express, whose readers and router name an HTTP status, as ours. */
export function requestError(error: unknown, maxBytes?: number): unknown {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
  if (status === 413) return tooLarge(maxBytes, error);
  if (status === 415)
    return new MusterError('request.unsupported-media-type', 'The charset or encoding of the body is not supported', { cause: error });
  if (typeof status !== 'number' || status < 400 || status > 499) return error;
  return new MusterError('request.malformed', 'The request cannot be read: expected valid JSON and a valid address', { cause: error });
}
