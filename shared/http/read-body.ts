import type { Request, Response } from 'express';
import { MusterError } from '../errors/index.ts';
import { parseBoundedJson, type JsonBounds } from './parse-bounded-json.ts';
import type { OpenBodies } from './open-bodies.ts';
import { readBytes } from './read-bytes.ts';

export interface BodyBounds extends JsonBounds {
  readonly maxBytes: number;
}

const UTF_8 = /^utf-?8$/i;
const CHARSET = /;\s*charset="?([^";\s]+)/i;

/**
 * Reads a JSON body within its bounds into `request.body`; a request without one has none there.
 * Errors: `request.malformed`, `request.invalid`, `request.too-large`, `request.timeout`, `request.unsupported-media-type`, `limit.bodies`.
 */
export async function readBody(request: Request, response: Response, bounds: BodyBounds, bodies: OpenBodies): Promise<void> {
  if (!hasBody(request)) return;
  assertJsonType(request);
  const { bytes, release } = await readBytes(request, response, { maxBytes: bounds.maxBytes, mayInflate: true, bodies });
  request.body = parseBody(bytes, bounds);
  // The caller may wait long for its answer.
  release();
}

function hasBody(request: Request): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

function assertJsonType(request: Request): void {
  const got = request.get('content-type') ?? 'none';
  if (!request.is(['json', '+json'])) {
    throw new MusterError('request.unsupported-media-type', `Content-Type: expected application/json, got ${got}`, { details: { got } });
  }
  const charset = CHARSET.exec(got)?.[1] ?? 'utf-8';
  if (UTF_8.test(charset)) return;
  throw new MusterError('request.unsupported-media-type', `Content-Type: expected the charset utf-8, got ${charset}`, { details: { got } });
}

/** A body that came in pieces may have been empty. */
function parseBody(bytes: Buffer, bounds: JsonBounds): unknown {
  if (bytes.length === 0) return undefined;
  const parsed = parseText(bytes, bounds);
  if (typeof parsed === 'object' && parsed !== null) return parsed;
  throw new MusterError('request.malformed', 'The body cannot be read: expected a JSON object or list');
}

function parseText(bytes: Buffer, bounds: JsonBounds): unknown {
  try {
    return parseBoundedJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes), bounds);
  } catch (cause) {
    if (cause instanceof MusterError) throw cause;
    throw new MusterError('request.malformed', 'The body cannot be read: expected valid JSON in UTF-8', { cause });
  }
}
