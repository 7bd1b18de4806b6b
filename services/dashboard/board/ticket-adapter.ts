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

const DESCRIPTIONS: Readonly<Partial<Record<QueueName, string>>> = {
  deliveries: 'Replies and callbacks; retried by POST /v1/deliveries/:id/retry',
  maintenance: 'The fleet’s own chores',
  ticks: 'The clock of the schedules; what anybody changes in it is undone',
};

/** TicketAdapter is responsible for how the board sees one queue: which actions it shows, and what it says of a ticket. */
export class TicketAdapter extends BullMQAdapter {
  readonly tickets: TicketQueue;
  /** A completed task is over; only a failed one opens again. */
  override readonly allowCompletedRetries = false;

  constructor({ shard, hasShards, name, queue, isReadOnly }: TicketAdapterOptions) {
    // A delivery's job shows its task too, but its record decides what becomes of it.
    const namesTask = name !== 'maintenance' && name !== 'ticks';
    const carriesTasks = namesTask && name !== 'deliveries';
    super(queue, {
      prefix: hasShards ? `s${shard}:` : '',
      delimiter: hasShards ? ':' : '',
      // The fleet's own chores find its orphans: nobody stops or removes them from here.
      readOnlyMode: isReadOnly || !carriesTasks,
      description: DESCRIPTIONS[name] ?? '',
      ...(namesTask ? { externalJobUrl: ({ data }: { data: TicketData }) => ({ href: taskPath(data), displayText: 'Task' }) } : {}),
    });
    this.tickets = queue;
    if (namesTask) {
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
