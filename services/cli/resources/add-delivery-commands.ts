import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../read-answer.ts';
import type { RunContext } from '../run-context.ts';
import { showResourceTable, type ListOptions } from './resource-table.ts';

const deliverySchema = z.object({
  id: z.string(),
  kind: z.string(),
  platform: z.string().nullish(),
  status: z.string(),
  attempts: z.number(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
  nextTryAt: z.string().nullish(),
});
type Delivery = z.infer<typeof deliverySchema>;

interface ListDeliveriesOptions extends ListOptions {
  status?: string;
  kind?: string;
}

/** `muster deliveries` and what is below it. */
export function addDeliveryCommands(program: Command, contextOf: (command: Command) => RunContext): void {
  const deliveries = program
    .command('deliveries')
    .description('list what is sent outward: replies to chats, and callbacks')
    .option('--status <status>', 'pending, delivered, failed or unknown')
    .option('--kind <kind>', 'reply or callback')
    .option('--limit <count>', 'at most 200', '50')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .option('--json', 'print the answer as JSON')
    .action((options: ListDeliveriesOptions, command: Command) => listDeliveries(options, contextOf(command)));
  deliveries
    .command('retry <id>')
    .description('send a failed or unknown delivery once more')
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`/v1/deliveries/${encodeURIComponent(id)}/retry`);
      const { status } = readAnswer(deliverySchema, answer);
      context.terminal.line(`Delivery ${id} is ${status} again.`);
    });
}

function listDeliveries({ json, ...query }: ListDeliveriesOptions, context: RunContext): Promise<void> {
  return showResourceTable(
    {
      path: '/v1/deliveries',
      query,
      item: deliverySchema,
      heading: ['DELIVERY', 'TO', 'STATUS', 'TRIES', 'NOTE'],
      row: (delivery) => [delivery.id, delivery.platform ?? delivery.kind, delivery.status, String(delivery.attempts), noteOf(delivery)],
      empty: 'There is no delivery that fits.',
    },
    json === true ? { json } : {},
    context,
  );
}

function noteOf({ error, nextTryAt }: Delivery): string {
  const failure = error ? `${error.message} [${error.code}]` : '';
  return [failure, nextTryAt ? `next try ${nextTryAt}` : ''].filter(Boolean).join('; ');
}
