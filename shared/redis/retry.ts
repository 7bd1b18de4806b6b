import pRetry from 'p-retry';
import { isRedisUnavailable } from './connection-watch.ts';

const RETRY_MS = 200;

export interface RetryOptions {
  /** Ends the retries; the call then rejects with its reason. */
  signal?: AbortSignal;
  /** Asked before each retry. Defaults to always. */
  mayRetry?: () => boolean;
}

/**
 * Repeats a call while Redis is away. Rejects at once with any other error, and with that of the last call when it may not retry. Without
 * options it never gives up.
 */
export async function retryWhileAway<T>(call: () => Promise<T>, { signal, mayRetry = () => true }: RetryOptions = {}): Promise<T> {
  return await pRetry(call, {
    retries: Infinity,
    minTimeout: RETRY_MS,
    factor: 1,
    signal,
    shouldRetry: ({ error }) => isRedisUnavailable(error) && mayRetry(),
  });
}
