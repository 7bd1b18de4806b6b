import { type Ledger, takeOpenCancel } from '#shared/ledger/index.ts';
import { continueCancel } from '#shared/queue/index.ts';

/** The ledger of a process that dies before its call of Redis with this number, from 1. */
export function dyingAt(ledger: Ledger, call: number): Ledger {
  let calls = 0;
  const before = (): void => {
    calls += 1;
    if (calls >= call) throw new Error('The process died');
  };
  return {
    ...ledger,
    run: async (...args) => (before(), await ledger.run(...args)),
    redis: new Proxy(ledger.redis, {
      get: (redis, name) => {
        const value: unknown = Reflect.get(redis, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => (before(), Reflect.apply(value, redis, args));
      },
    }),
  };
}

/** What workers do about open cancels. Returns how many tasks they stopped. */
export async function continueAll(ledger: Ledger): Promise<number> {
  const now = Date.now() + 60_000;
  let subTasks = 0;
  for (;;) {
    const cancel = await takeOpenCancel(ledger, 0, { before: now, now: now + 1 });
    if (cancel === null) return subTasks;
    subTasks += await continueCancel(ledger, cancel);
  }
}
