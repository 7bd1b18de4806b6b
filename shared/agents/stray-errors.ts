import { AsyncLocalStorage } from 'node:async_hooks';

/** One per process, because unhandled errors of all its code arrive in one place. */
const owners = new AsyncLocalStorage<(error: unknown) => void>();

/**
 * Runs code that is not ours. Errors that it leaves unhandled, now or later (a promise that nobody awaits, a throw in a timer), go to
 * `onStray` instead of ending the process and everything else that runs in it.
 */
export function runWithStrayHandler<T>(onStray: (error: unknown) => void, run: () => T): T {
  return owners.run(onStray, run);
}

/** Passes an unhandled error to `onStray` of the code that caused it. Returns whether there is such code. For the process's handlers. */
export function handleStray(error: unknown): boolean {
  const owner = owners.getStore();
  owner?.(error);
  return owner !== undefined;
}
