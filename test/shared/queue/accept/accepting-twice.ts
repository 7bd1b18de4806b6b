import type { Ledger } from '#shared/ledger/ledger.ts';

/** A ledger whose calls that accept a task are sent again, as the connection does when their reply was lost. */
export function acceptingTwice(ledger: Ledger): Ledger {
  return {
    ...ledger,
    run: async (name, ...call) => {
      if (name.startsWith('accept-')) await ledger.run(name, ...call);
      return await ledger.run(name, ...call);
    },
  };
}
