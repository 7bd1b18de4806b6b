import type { Request, Response } from 'express';
import { MusterError } from '../../errors/index.ts';
import { networkOf } from '../rate-limits.ts';
import type { OpenBodies } from '../server-load.ts';
import { type JsonBounds, parseBoundedJson, parseSafeJson } from './parse-bounded-json.ts';
import { readBytes } from './read-bytes.ts';

export interface BodyBounds extends JsonBounds {
  readonly maxBytes: number;
  /** Whether numbers that would lose digits are left to the handler, which refuses them where they are. */
  readonly keepsDigits: boolean;
}

type ParseBounds = JsonBounds & Pick<BodyBounds, 'keepsDigits'>;

const utf8 = new TextDecoder('utf-8', { fatal: true });
const UTF_8 = /^utf-?8$/i;
const CHARSET = /;\s*charset="?([^";\s]+)/i;

/**
 * Reads a JSON body within its bounds into `request.body`; a request without one has none there.
 * Errors: `request.malformed`, `request.invalid`, `request.too-large`, `request.timeout`, `request.unsupported-media-type`, `limit.bodies`.
 */
export async function readBody(request: Request, response: Response, bounds: BodyBounds, bodies: OpenBodies): Promise<void> {
  if (!hasBody(request)) return;
  assertJsonType(request);
  if (isHere(request, bounds)) {
    request.body = parseHere(request, bounds, bodies);
    return;
  }
  const { bytes, release } = await readBytes(request, response, { maxBytes: bounds.maxBytes, mayInflate: true, bodies });
  request.body = parseBody(bytes, bounds);
  // The caller may wait long for its answer.
  release();
}

/** Whether a plain body within its bound has come in full, as most have by the time that their key was looked up. */
function isHere(request: Request, { maxBytes }: BodyBounds): boolean {
  const { 'content-length': length, 'content-encoding': encoding } = request.headers;
  return request.complete && encoding === undefined && Number(length) <= maxBytes && Number(length) === request.readableLength;
}

/** Such a body, without waiting for it. */
function parseHere(request: Request, bounds: BodyBounds, bodies: OpenBodies): unknown {
  const body = bodies.open(networkOf(request.ip));
  try {
    body.add(request.readableLength);
    const bytes: unknown = request.read();
    return parseBody(bytes instanceof Buffer ? bytes : Buffer.alloc(0), bounds);
  } finally {
    body.release();
  }
}

function hasBody(request: Request): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

function assertJsonType(request: Request): void {
  const got = request.get('content-type') ?? 'none';
  // As nearly all come; the rest of this costs more than reading a small body.
  if (got === 'application/json') return;
  if (!request.is(['json', '+json'])) {
    throw new MusterError('request.unsupported-media-type', `Content-Type: expected application/json, got ${got}`, { details: { got } });
  }
  const charset = CHARSET.exec(got)?.[1] ?? 'utf-8';
  if (UTF_8.test(charset)) return;
  throw new MusterError('request.unsupported-media-type', `Content-Type: expected the charset utf-8, got ${charset}`, { details: { got } });
}

/** A body that came in pieces may have been empty. */
function parseBody(bytes: Buffer, bounds: ParseBounds): unknown {
  if (bytes.length === 0) return undefined;
  const parsed = parseText(bytes, bounds);
  if (typeof parsed === 'object' && parsed !== null && !JSON.isRawJSON(parsed)) return parsed;
  throw new MusterError('request.malformed', 'The body cannot be read: expected a JSON object or list');
}

function parseText(bytes: Buffer, bounds: ParseBounds): unknown {
  try {
    const text = utf8.decode(bytes);
    return bounds.keepsDigits ? parseBoundedJson(text, bounds) : parseSafeJson(text, bounds);
  } catch (cause) {
    if (cause instanceof MusterError) throw cause;
    throw new MusterError('request.malformed', 'The body cannot be read: expected valid JSON in UTF-8', { cause });
  }
}
