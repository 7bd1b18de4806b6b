import { setTimeout as delay } from 'node:timers/promises';
import { startDeadline } from './start-deadline.ts';

/**
 * Waits `ms` milliseconds, or until the signal aborts, whichever comes first.
 * Returns `true` when the whole time passed; never throws.
 */
export async function wait(ms: number, signal?: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, signal ? { signal } : undefined);
    return true;
  } catch {
    return false;
  }
}

/** What `within` answers when the time ran out before the promise settled. */
export const LATE: unique symbol = Symbol('late');

/** Settles like the promise, or with `LATE` after `ms` milliseconds. The promise goes on by itself then. */
export function within<T>(promise: Promise<T>, ms: number): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(LATE), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The same, but time in which this process was too busy to see the promise settle does not count. */
export function withinAttentive<T>(promise: Promise<T>, ms: number): Promise<T | typeof LATE> {
  return new Promise((resolve, reject) => {
    const stop = startDeadline(ms, () => resolve(LATE));
    promise.then(resolve, reject).finally(stop);
  });
}
