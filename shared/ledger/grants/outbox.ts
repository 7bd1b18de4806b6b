import type { TaskState } from '../../tasks/index.ts';
import { shardKeys } from '../context.ts';
import type { Ledger } from '../ledger.ts';
import { parseFullState } from '../codec/state.ts';

/** One of the tickets that an outbox entry names. */
export interface OutboxTicket {
  task: string;
  number: number;
}

/** The outbox's name for the tickets of one step: `<tenant>/<task>.<number>,...` */
export function outboxEntry(tenant: string, tickets: readonly OutboxTicket[]): string {
  return `${tenant}/${tickets.map(({ task, number }) => `${task}.${number}`).join(',')}`;
}

/** The tickets that an outbox entry names. */
export function parseOutboxEntry(entry: string): { tenant: string; tickets: OutboxTicket[] } {
  const [tenant = '', list = ''] = entry.split('/');
  const tickets = list.split(',').map((ticket) => {
    const [task = '', number = '1'] = ticket.split('.');
    return { task, number: Number(number) };
  });
  return { tenant, tickets };
}

/** Makes a new ticket in place of one that is missing. Returns the task's state with it; null when the task needs none. */
export async function reissueTicket(ledger: Ledger, tenant: string, { task, number }: OutboxTicket): Promise<TaskState | null> {
  const keys = ledger.keys.tenant(tenant);
  const [kind, state] = (await ledger.run(
    'reissue-ticket',
    [keys.states, keys.bodies, shardKeys(ledger, tenant).outbox],
    [task, number, tenant],
  )) as [string, string?];
  return kind === 'reissued' ? parseFullState(`${state}`) : null;
}
