import { AsyncLocalStorage } from 'node:async_hooks';

/** One for the process, as what nobody caught comes up in one place for all of it. */
const owners = new AsyncLocalStorage<(error: unknown) => void>();

/**
 * Runs code that is not ours. Errors that it lets go unheard, now or later (a promise that nobody waits for, a throw in a timer), come to
 * `onStray` instead of ending the process and everything else that runs in it.
 */
export function runWithStrayHandler<T>(onStray: (error: unknown) => void, run: () => T): T {
  return owners.run(onStray, run);
}

/** Hands an error that nobody caught to the code that it came of. Returns whether it came of such code. Call it where the process hears of it. */
export function handleStray(error: unknown): boolean {
  const owner = owners.getStore();
  owner?.(error);
  return owner !== undefined;
}
