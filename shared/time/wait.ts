import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits `ms` milliseconds, or until the signal aborts, whichever comes first.
 * Returns `true` when the time passed completely; never throws.
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

/** Parts of a deadline; a process that stands still loses one of them, however long that takes. */
const SLICES = 5;

interface Deadline {
  sliceMs: number;
  left: number;
  timer: NodeJS.Timeout | undefined;
  isStopped: boolean;
  onLate: () => void;
}

/**
 * Calls back after `ms` milliseconds in which this process could read an answer. It waits in slices, so that busy or frozen time hardly
 * counts. Returns how to stop.
 */
export function startDeadline(ms: number, onLate: () => void): () => void {
  const deadline: Deadline = { sliceMs: ms / SLICES, left: SLICES, timer: undefined, isStopped: false, onLate };
  waitSlice(deadline);
  return () => {
    deadline.isStopped = true;
    clearTimeout(deadline.timer);
  };
}

function waitSlice(deadline: Deadline): void {
  deadline.timer = setTimeout(endSlice, deadline.sliceMs, deadline);
}

function endSlice(deadline: Deadline): void {
  deadline.left -= 1;
  if (deadline.left > 0) waitSlice(deadline);
  // An answer that has arrived is read first: timers come before input in a turn of the event loop.
  else setImmediate(() => setImmediate(() => !deadline.isStopped && deadline.onLate()));
}
