import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { type QueueName, taskPriority, type TicketData, type TicketQueue } from '#shared/queue/index.ts';
import { DEFAULT_TENANT, publicTenantId } from '#shared/tenants/index.ts';

export interface TicketAdapterOptions {
  shard: number;
  /** Several shards hold a queue of the same name each; the board shows which one it is. */
  hasShards: boolean;
  name: QueueName;
  queue: TicketQueue;
  /** For people who may only read. */
  isReadOnly: boolean;
}

const DESCRIPTIONS: Readonly<Partial<Record<QueueName, string>>> = {
  deliveries: 'Callbacks; retried by POST /v1/deliveries/:id/retry',
  replies: 'Replies to chats; retried by POST /v1/deliveries/:id/retry',
  maintenance: 'The fleet’s own chores',
  ticks: 'The clock of the schedules; a change here is undone',
};

/** TicketAdapter is responsible for how the board shows one queue: its actions, and the fields of its tickets. */
export class TicketAdapter extends BullMQAdapter {
  readonly tickets: TicketQueue;
  /** A completed task is over; only a failed one opens again. */
  override readonly allowCompletedRetries = false;
  readonly #carriesTasks: boolean;

  constructor({ shard, hasShards, name, queue, isReadOnly }: TicketAdapterOptions) {
    // A delivery's job shows its task too, but its record decides what becomes of it.
    const namesTask = name !== 'maintenance' && name !== 'ticks';
    const carriesTasks = namesTask && name !== 'deliveries' && name !== 'replies';
    super(queue, {
      prefix: hasShards ? `s${shard}:` : '',
      delimiter: hasShards ? ':' : '',
      // The fleet's own chores repair it, so they cannot be stopped or removed here.
      readOnlyMode: isReadOnly || !carriesTasks,
      description: DESCRIPTIONS[name] ?? '',
      ...(namesTask ? { externalJobUrl: ({ data }: { data: TicketData }) => ({ href: taskPath(data), displayText: 'Task' }) } : {}),
    });
    this.tickets = queue;
    this.#carriesTasks = carriesTasks;
    if (namesTask) {
      this.setFormatter(
        'name',
        (job: { name: string; data: TicketData }) => `${job.name} · ${laneOf(job.data) ?? publicTenantId(job.data.tenant)}`,
      );
      this.setFormatter('data', (data: TicketData) => ({ tenant: publicTenantId(data.tenant), task: data.task, lane: laneOf(data) }));
    }
  }

  override async getJob(id: string): Promise<ShownJob | undefined> {
    const job = await super.getJob(id);
    return job ? this.#shown(job) : undefined;
  }

  override async getJobs(...wanted: Parameters<BullMQAdapter['getJobs']>): Promise<ShownJob[]> {
    return (await super.getJobs(...wanted)).map((job) => this.#shown(job));
  }

  /** With the priority of the task, and without what a task of another tenant returned. */
  #shown(job: ShownJob): ShownJob {
    const read = job.toJSON.bind(job);
    job.toJSON = () => {
      const fields = read();
      const shown = isOwn(fields.data)
        ? fields
        : { ...fields, returnvalue: null, stacktrace: [], failedReason: fields.failedReason && HIDDEN };
      return this.#carriesTasks ? withTaskPriority(shown) : shown;
    };
    return job;
  }

  /** `why` could not explain a limit that is set here; `queues.<name>.limiter` of the configuration sets one. */
  override get supportsGlobalRateLimit(): boolean {
    return false;
  }
}

const HIDDEN = 'It failed; why is for its tenant to see.';

type ShownJob = Awaited<ReturnType<BullMQAdapter['getJobs']>>[number];
type JobFields = ReturnType<ShownJob['toJSON']>;

function withTaskPriority(fields: JobFields): JobFields {
  const { priority } = fields.opts as { priority?: number };
  if (!priority) return fields;
  return { ...fields, priority: taskPriority(priority), opts: { ...fields.opts, priority: taskPriority(priority) } };
}

/** The lane of a ticket of the installation's own tenant: sessions are often named after people. */
function laneOf(data: TicketData): string | null {
  return isOwn(data) ? (data.lane ?? null) : null;
}

/** What belongs to no tenant is the installation's. */
function isOwn(data: unknown): boolean {
  return typeof data !== 'object' || data === null || !('tenant' in data) || data.tenant === DEFAULT_TENANT;
}

function taskPath({ tenant, task }: TicketData): string {
  return `/tasks/${encodeURIComponent(task)}?tenant=${encodeURIComponent(tenant)}`;
}
