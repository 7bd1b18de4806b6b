import { failureFromNetwork, type GuardedFetch, readRetryAfter } from '../agents/index.ts';

export interface CallbackCall {
  fetch: GuardedFetch;
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs: number;
  /** Now, ms since the epoch. */
  now: number;
}

/** `refused`: it will not be otherwise the next time. */
export type CallbackAnswer =
  | { kind: 'taken' }
  | { kind: 'failed'; code: string; message: string; retryAfterMs: number }
  | { kind: 'refused'; code: string; message: string };

const GONE = 410;
const LATER = new Set([429, 503]);
/** Failures that lie in the address, not in who is there. */
const ADDRESS_FAULTS = new Set(['PERMISSION_DENIED', 'INVALID_INPUT']);

/** POSTs once. Only 2xx is a success: redirects are not followed. The answer's body is not read. Never rejects. */
export async function sendCallback({ fetch, url, headers, body, timeoutMs, now }: CallbackCall): Promise<CallbackAnswer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    await response.body?.cancel().catch(() => undefined);
    if (response.ok) return { kind: 'taken' };
    const failure = { code: `http-${response.status}`, message: `The endpoint answered with ${response.status}` };
    if (response.status === GONE) return { kind: 'refused', ...failure };
    const asked = LATER.has(response.status) && response.headers.has('retry-after');
    return { kind: 'failed', ...failure, retryAfterMs: asked ? readRetryAfter((name) => response.headers.get(name), now) : 0 };
  } catch (error) {
    if (signal.aborted)
      return { kind: 'failed', code: 'timeout', message: `The endpoint did not answer within ${timeoutMs} ms`, retryAfterMs: 0 };
    const { code, message } = failureFromNetwork(error);
    if (ADDRESS_FAULTS.has(code)) return { kind: 'refused', code: 'address', message };
    return { kind: 'failed', code: 'network', message, retryAfterMs: 0 };
  }
}
