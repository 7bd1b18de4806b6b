import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { QueueName } from '#shared/queue/queue-names.ts';
import type { TicketData, TicketQueue } from '#shared/queue/queues.ts';

export interface TicketAdapterOptions {
  shard: number;
  /** Several shards hold a queue of the same name each; the board shows which one it is. */
  hasShards: boolean;
  name: QueueName;
  queue: TicketQueue;
  /** For people who may only look. */
  isReadOnly: boolean;
}

/** TicketAdapter is responsible for how the board sees one queue: which actions it shows, and what it says of a ticket. */
export class TicketAdapter extends BullMQAdapter {
  readonly tickets: TicketQueue;
  /** A completed task is over; only a failed one opens again. */
  override readonly allowCompletedRetries = false;

  constructor({ shard, hasShards, name, queue, isReadOnly }: TicketAdapterOptions) {
    const carriesTasks = name !== 'maintenance';
    super(queue, {
      prefix: hasShards ? `s${shard}:` : '',
      delimiter: hasShards ? ':' : '',
      // The fleet's own chores find its orphans: nobody stops or removes them from here.
      readOnlyMode: isReadOnly || !carriesTasks,
      description: carriesTasks ? '' : 'The fleet’s own chores',
      ...(carriesTasks ? { externalJobUrl: ({ data }: { data: TicketData }) => ({ href: taskPath(data), displayText: 'Task' }) } : {}),
    });
    this.tickets = queue;
    if (carriesTasks) {
      this.setFormatter('name', (job: { name: string; data: TicketData }) => `${job.name} · ${job.data.lane ?? job.data.tenant}`);
      this.setFormatter('data', ({ tenant, task, lane }: TicketData) => ({ tenant, task, lane: lane ?? null }));
    }
  }

  /** A limit of a queue that nobody wrote down would be a wait that `why` cannot explain; `queues.<name>.limiter` of the configuration is the way. */
  override get supportsGlobalRateLimit(): boolean {
    return false;
  }
}

function taskPath({ tenant, task }: TicketData): string {
  return `/tasks/${encodeURIComponent(task)}?tenant=${encodeURIComponent(tenant)}`;
}
