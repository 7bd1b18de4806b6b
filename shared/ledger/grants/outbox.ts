/** One of the tickets that an outbox entry names. */
export interface OutboxTicket {
  task: string;
  number: number;
  /** Whether it goes before others of its priority. */
  isAhead?: boolean;
}

const AHEAD = 'ahead';

/** The outbox's name for the tickets of one step: `<tenant>/<task>.<number>,...`, with `.ahead` behind the number of a ticket that goes ahead. */
export function outboxEntry(tenant: string, tickets: readonly OutboxTicket[]): string {
  return `${tenant}/${tickets.map(({ task, number, isAhead }) => `${task}.${number}${isAhead ? `.${AHEAD}` : ''}`).join(',')}`;
}

/** The tickets that an outbox entry names. */
export function parseOutboxEntry(entry: string): { tenant: string; tickets: Required<OutboxTicket>[] } {
  const [tenant = '', list = ''] = entry.split('/');
  const tickets = list.split(',').map((ticket) => {
    const [task = '', number = '1', flag] = ticket.split('.');
    return { task, number: Number(number), isAhead: flag === AHEAD };
  });
  return { tenant, tickets };
}

/** Whether an entry that a script let out is of a ticket that goes ahead: such a ticket has an entry of its own. */
export function isAheadEntry(entry: string): boolean {
  return entry.endsWith(`.${AHEAD}`);
}
