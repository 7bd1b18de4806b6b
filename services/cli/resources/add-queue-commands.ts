import type { Command } from 'commander';
import { z } from 'zod';
import type { RunContext } from '../run-context.ts';
import { duration } from '../short-time.ts';
import { showResourceTable, type ListOptions } from './resource-table.ts';

const queueSchema = z.object({
  name: z.string(),
  paused: z.boolean(),
  waiting: z.number(),
  prioritized: z.number(),
  delayed: z.number(),
  active: z.number(),
  failed: z.number(),
  workers: z.number(),
  oldestWaitingAgeMs: z.number().nullish(),
});

/** `muster queues` and what is below it. */
export function addQueueCommands(program: Command, contextOf: (command: Command) => RunContext): void {
  const queues = program
    .command('queues')
    .description('list the queues: what waits, what runs, who serves them')
    .option('--json', 'print the answer as JSON')
    .action((options: ListOptions, command: Command) => listQueues(options, contextOf(command)));
  for (const verb of ['pause', 'resume'] as const) {
    queues
      .command(`${verb} <name>`)
      .description(verb === 'pause' ? 'start nothing more of a queue; what runs goes on' : 'start what waits in a paused queue')
      .action(async (name: string, _options: unknown, command: Command) => {
        const context = contextOf(command);
        await context.connect().post(`/v1/queues/${encodeURIComponent(name)}/${verb}`);
        context.terminal.line(`Queue ${name} is ${verb}d.`);
      });
  }
}

function listQueues(options: ListOptions, context: RunContext): Promise<void> {
  return showResourceTable(
    {
      path: '/v1/queues',
      item: queueSchema,
      heading: ['QUEUE', 'STATE', 'WAITING', 'DELAYED', 'ACTIVE', 'FAILED', 'WORKERS', 'OLDEST'],
      row: (queue) => [
        queue.name,
        queue.paused ? 'paused' : 'open',
        String(queue.waiting + queue.prioritized),
        String(queue.delayed),
        String(queue.active),
        String(queue.failed),
        String(queue.workers),
        typeof queue.oldestWaitingAgeMs === 'number' ? duration(queue.oldestWaitingAgeMs) : '',
      ],
      empty: 'There is no queue.',
    },
    options,
    context,
  );
}
