import type { Request, RequestHandler, Response } from 'express';
import type { MusterError } from '../errors/muster-error.ts';
import { bodyTooLarge, requestError } from './request-error.ts';

/** How long who was refused may go on sending, so that it gets to read why; what comes is let go. */
const LINGER_MS = 2000;

/**
 * Reads a body by one of Express' readers, at most `maxBytes` as they come. More is refused as soon as it is announced or there: the
 * readers themselves answer only when all of it has come.
 * Errors: `request.malformed`, `request.too-large`, `request.unsupported-media-type`.
 */
export async function readWithin(read: RequestHandler, request: Request, response: Response, maxBytes: number): Promise<void> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw refused(request, maxBytes);
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) reject(refused(request, maxBytes));
    });
    read(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(requestError(error, maxBytes))));
  });
}

function refused(request: Request, maxBytes: number): MusterError {
  setTimeout(() => {
    if (!request.complete) request.destroy();
  }, LINGER_MS).unref();
  return bodyTooLarge(maxBytes);
}
