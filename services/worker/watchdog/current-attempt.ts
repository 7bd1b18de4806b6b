import { AsyncLocalStorage } from 'node:async_hooks';

const members = new AsyncLocalStorage<string>();

/** Where another thread finds `currentAttempt`, by way of the inspector, while this one is stuck. */
export const CURRENT_ATTEMPT = 'muster.current-attempt';

/** The lease member of the attempt whose code runs now; null outside of agents. */
export function currentAttempt(): string | null {
  return members.getStore() ?? null;
}

/** Runs an agent so that all it does, now or later, is known to be of this attempt. */
export function asAttempt<T>(member: string, run: () => T): T {
  return members.run(member, run);
}

Reflect.set(globalThis, Symbol.for(CURRENT_ATTEMPT), currentAttempt);
