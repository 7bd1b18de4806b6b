import type { Request } from 'express';
import { MusterError } from '../errors/index.ts';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses what another site makes a signed-in browser send: a cookie proves who the browser is, not who wrote the request.
 * Errors: `auth.csrf`.
 */
export function assertSameOrigin(request: Request): void {
  if (SAFE.has(request.method)) return;
  const site = request.get('sec-fetch-site');
  if (site !== undefined ? site === 'same-origin' : isOwnOrigin(request)) return;
  throw new MusterError('auth.csrf', 'A signed-in browser may send this from the pages of this installation only');
}

/** For browsers that do not say where a request comes from but in `Origin`. */
function isOwnOrigin(request: Request): boolean {
  const origin = request.get('origin');
  if (origin === undefined) return false;
  try {
    return new URL(origin).host === request.get('host');
  } catch {
    return false;
  }
}
