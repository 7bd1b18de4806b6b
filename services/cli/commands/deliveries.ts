import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { addPaging, type JsonOptions } from './options.ts';
import { showList, type ListOptions } from '../output/table.ts';
import { pointInTime } from '../output/terminal.ts';

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

export function addDeliveryCommands(program: Command, contextOf: ContextOf): void {
  const deliveries = addPaging(program.command('deliveries').description('list deliveries: replies to chats, and callbacks'), '50')
    .option('--status <status>', 'pending, delivered, failed or unknown')
    .option('--kind <kind>', 'reply, callback or question')
    .action((options: ListDeliveriesOptions, command: Command) => runDeliveries(options, contextOf(command)));
  deliveries
    .command('retry <id>')
    .description('send a delivery again that failed or has an unknown outcome')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`/v1/deliveries/${encodeURIComponent(id)}/retry`);
      if (json === true) return context.terminal.json(answer);
      const { status } = readAnswer(deliverySchema, answer);
      context.terminal.line(`Delivery ${id} is ${status} again.`);
    });
}

function runDeliveries({ json, ...query }: ListDeliveriesOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: '/v1/deliveries',
      query,
      item: deliverySchema,
      heading: ['DELIVERY', 'TO', 'STATUS', 'TRIES', 'NOTE'],
      row: (delivery) => [delivery.id, delivery.platform ?? delivery.kind, delivery.status, String(delivery.attempts), noteOf(delivery)],
      empty: 'No delivery matches.',
    },
    json === true ? { json } : {},
    context,
  );
}

function noteOf({ error, nextTryAt }: Delivery): string {
  const failure = error ? `${error.message} [${error.code}]` : '';
  return [failure, nextTryAt ? `next attempt ${pointInTime(nextTryAt)}` : ''].filter(Boolean).join('; ');
}
