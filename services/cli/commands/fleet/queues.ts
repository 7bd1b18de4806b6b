import type { Command } from 'commander';
import { z } from 'zod';
import { durationText } from '#shared/time/index.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { showList, type ListOptions } from '../../output/table.ts';
import type { JsonOptions } from '../options.ts';

const queueSchema = z.object({
  name: z.string(),
  paused: z.boolean(),
  waiting: z.number(),
  forSlot: z.number().default(0),
  held: z.number().default(0),
  parked: z.number().default(0),
  delayed: z.number(),
  active: z.number(),
  failed: z.number(),
  workers: z.number(),
  oldestWaitingAgeMs: z.number().nullish(),
});

export function addQueueCommands(program: Command, contextOf: ContextOf): void {
  const queues = program
    .command('queues')
    .description('list the queues: what waits, what runs, how many workers')
    .option('--json', 'print the answer as JSON')
    .action((options: ListOptions, command: Command) => runQueues(options, contextOf(command)));
  for (const verb of ['pause', 'resume'] as const) {
    queues
      .command(`${verb} <name>`)
      .description(verb === 'pause' ? 'start no more tasks of a queue; running ones go on' : 'start the tasks of a paused queue again')
      .option('--json', 'print the answer as JSON')
      .action(async (name: string, { json }: JsonOptions, command: Command) => {
        const context = contextOf(command);
        const answer = await context.connect().post(`/v1/queues/${encodeURIComponent(name)}/${verb}`);
        if (json === true) return context.terminal.json(answer);
        context.terminal.line(`Queue ${name} is ${verb}d.`);
      });
  }
}

function runQueues(options: ListOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: '/v1/queues',
      item: queueSchema,
      heading: ['QUEUE', 'STATE', 'WAITING', 'DELAYED', 'ACTIVE', 'FAILED', 'WORKERS', 'OLDEST'],
      row: (queue) => [
        queue.name,
        queue.paused ? 'paused' : 'open',
        waitingText(queue),
        String(queue.delayed),
        String(queue.active),
        String(queue.failed),
        String(queue.workers),
        typeof queue.oldestWaitingAgeMs === 'number' ? durationText(queue.oldestWaitingAgeMs) : '',
      ],
      empty: 'There is no queue.',
    },
    options,
    context,
  );
}

/** With what it counts, where that is not only tasks that wait for a slot. */
function waitingText({ waiting, forSlot, held, parked }: z.infer<typeof queueSchema>): string {
  const parts = [
    [forSlot, 'for a slot'],
    [held, 'held'],
    [parked, 'parked'],
  ] as const;
  const named = parts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
  return held + parked === 0 ? String(waiting) : `${waiting} (${named.join(', ')})`;
}
