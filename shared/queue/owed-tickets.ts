import { type Ledger, parseOutboxEntry, readStates } from '../ledger/index.ts';
import { ticketOfState } from './ticket-of-state.ts';
import type { Ticket } from './ticket.ts';

/** The tickets that these entries of an outbox name and that are still owed, under their own numbers. */
export async function readOwedTickets(ledger: Ledger, entries: readonly string[]): Promise<Ticket[]> {
  const owed = entries.flatMap((entry) => {
    const { tenant, tickets } = parseOutboxEntry(entry);
    return tickets.map(({ task, number }) => ({ entry, tenant, task, number }));
  });
  const found = [...Map.groupBy(owed, ({ tenant }) => tenant)].map(async ([tenant, own]) => {
    const states = await readStates(
      ledger,
      tenant,
      own.map(({ task }) => task),
    );
    return own.flatMap(({ entry, task, number }, position) => {
      const state = states[position];
      const isOwed = state?.granted === true && state.status !== 'running' && state.ticket === number;
      return isOwed ? [{ ...ticketOfState(tenant, task, state), entry }] : [];
    });
  });
  return (await Promise.all(found)).flat();
}
