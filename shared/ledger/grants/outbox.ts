/** One of the tickets that an outbox entry names. */
export interface OutboxTicket {
  task: string;
  number: number;
}

/** The outbox's name for the tickets of one step: `<tenant>/<task>.<number>,...`. */
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
