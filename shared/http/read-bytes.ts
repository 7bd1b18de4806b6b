import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable, Transform } from 'node:stream';
import type { Request, Response } from 'express';
import { MusterError } from '../errors/index.ts';
import { networkOf } from './network-of.ts';
import type { OpenBodies, OpenBody } from './open-bodies.ts';
import { bodyTooLarge } from './request-error.ts';

/** How long who was refused may go on sending, so that it gets to read why; what comes is dropped. */
const LINGER_MS = 2000;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export interface ReadBytesOptions {
  readonly maxBytes: number;
  /** Whether the body may be compressed; `maxBytes` is what it may be before and after. */
  readonly mayInflate: boolean;
  readonly bodies: OpenBodies;
}

export interface ReadBytes {
  readonly bytes: Buffer;
  /** Gives back its memory; by default it is held until the answer has ended. */
  readonly release: () => void;
}

/**
 * Reads a body of at most `maxBytes`. More is refused as soon as it is announced or there.
 * Errors: `request.malformed`, `request.too-large`, `request.timeout`, `request.unsupported-media-type`, `limit.bodies`.
 */
export async function readBytes(request: Request, response: Response, options: ReadBytesOptions): Promise<ReadBytes> {
  const { maxBytes, bodies } = options;
  const body = bodies.open(networkOf(request.ip));
  const release = (): void => body.release();
  try {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
    const source = decoded(request, options.mayInflate);
    const bytes = await collect(request, source, { maxBytes, body, idleMs: bodies.idleMs });
    if (response.closed) release();
    else response.once('close', release);
    return { bytes, release };
  } catch (error) {
    release();
    drop(request);
    throw error;
  }
}

function decoded(request: Request, mayInflate: boolean): Readable {
  const encoding = (request.get('content-encoding') ?? 'identity').toLowerCase();
  if (encoding === 'identity') return request;
  const create = mayInflate && Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (create === undefined)
    throw new MusterError('request.unsupported-media-type', `Content-Encoding: ${encoding.slice(0, 50)} is not supported here`);
  return request.pipe(create());
}

interface Collecting {
  readonly maxBytes: number;
  readonly body: OpenBody;
  readonly idleMs: number;
}

async function collect(request: Request, source: Readable, { maxBytes, body, idleMs }: Collecting): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sentBytes = 0;
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const idle = setTimeout(() => reject(new MusterError('request.timeout', `The body did not go on for ${idleMs} ms`)), idleMs);
  const countSent = (chunk: Buffer): void => {
    idle.refresh();
    sentBytes += chunk.length;
    if (sentBytes > maxBytes) reject(bodyTooLarge(maxBytes));
  };
  const keep = (chunk: Buffer): void => {
    try {
      bytes += chunk.length;
      if (bytes > maxBytes) throw bodyTooLarge(maxBytes);
      body.add(chunk.length);
      chunks.push(chunk);
    } catch (error) {
      reject(error);
    }
  };
  const isBroken = (cause?: unknown): void => reject(new MusterError('request.malformed', 'The body did not come in full', { cause }));
  // In this order: what counts the bytes sent sees them before they are kept.
  request
    .on('data', countSent)
    .once('error', isBroken)
    .once('close', () => {
      if (!request.complete) isBroken();
    });
  source.on('data', keep).once('end', resolve).once('error', isBroken);
  try {
    await promise;
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(idle);
    source.off('data', keep);
    request.off('data', countSent);
  }
}

/** Whoever goes on sending is cut off in a while. */
function drop(request: Request): void {
  // An error after this one is nobody's.
  request
    .unpipe()
    .on('error', () => undefined)
    .resume();
  setTimeout(() => {
    if (!request.complete) request.destroy();
  }, LINGER_MS).unref();
}
