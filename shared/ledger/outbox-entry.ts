/** One of the tickets that an outbox entry names. */
export interface OwedTicket {
  task: string;
  number: number;
}

/** The outbox's name for tickets that were owed in one step: `<tenant>/<task>.<number>,...` */
export function outboxEntry(tenant: string, tickets: readonly OwedTicket[]): string {
  return `${tenant}/${tickets.map(({ task, number }) => `${task}.${number}`).join(',')}`;
}

/** The tickets that an outbox entry names. */
export function parseOutboxEntry(entry: string): { tenant: string; tickets: OwedTicket[] } {
  const [tenant = '', list = ''] = entry.split('/');
  const tickets = list.split(',').map((ticket) => {
    const [task = '', number = '1'] = ticket.split('.');
    return { task, number: Number(number) };
  });
  return { tenant, tickets };
}
