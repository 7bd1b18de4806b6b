import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { MusterError } from '../../errors/index.ts';
import { bodyTooLarge } from '../answers/problems.ts';
import { networkOf } from '../rate-limits.ts';
import type { OpenBodies, OpenBody } from '../server-load.ts';

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

/** How long a refused sender may go on sending, so that it can read why; what comes is dropped. */
const LINGER_MS = 2000;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

interface ReadBytesOptions {
  readonly maxBytes: number;
  /** Whether the body may be compressed; `maxBytes` is what it may be before and after. */
  readonly mayInflate: boolean;
  readonly bodies: OpenBodies;
}

interface ReadBytes {
  readonly bytes: Buffer;
  /** Releases its memory; by default it is held until the answer has ended. */
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

/** Ignores what is still sent, and cuts the sender off after a while. */
function drop(request: Request): void {
  // An error after the refusal has no effect.
  request
    .unpipe()
    .on('error', () => undefined)
    .resume();
  setTimeout(() => {
    if (!request.complete) request.destroy();
  }, LINGER_MS).unref();
}
