import { AsyncLocalStorage } from 'node:async_hooks';

/** One per process, because unhandled errors of all its code arrive in one place. */
const owners = new AsyncLocalStorage<(error: unknown) => void>();

/**
 * Runs foreign code. Its unhandled errors (a floating promise, a throw in a timer), now or later, go to `onStray` instead of ending the
 * process.
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
