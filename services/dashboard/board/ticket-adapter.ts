import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { taskPriority, type QueueName, type TicketData, type TicketQueue } from '#shared/queue/index.ts';
import { DEFAULT_TENANT, publicTenantId } from '#shared/tenants/index.ts';

export interface TicketAdapterOptions {
  shard: number;
  /** With several shards each has a queue of this name, and the board shows the shard. */
  hasShards: boolean;
  name: QueueName;
  queue: TicketQueue;
  /** Shows no actions, for keys without the scope `operate`. */
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
  /** A completed task is terminal; only a failed task opens again. */
  override readonly allowCompletedRetries = false;
  readonly #carriesTasks: boolean;

  constructor({ shard, hasShards, name, queue, isReadOnly }: TicketAdapterOptions) {
    // A delivery's job names its task too, but the delivery's record decides its state.
    const namesTask = name !== 'maintenance' && name !== 'ticks';
    const carriesTasks = namesTask && name !== 'deliveries' && name !== 'replies';
    super(queue, {
      prefix: hasShards ? `s${shard}:` : '',
      delimiter: hasShards ? ':' : '',
      // The fleet's own chores repair it, so the board neither stops nor removes them.
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
    return job ? this.#toShown(job) : undefined;
  }

  override async getJobs(...wanted: Parameters<BullMQAdapter['getJobs']>): Promise<ShownJob[]> {
    return (await super.getJobs(...wanted)).map((job) => this.#toShown(job));
  }

  /** Shows the priority of the task, and hides the results and errors of other tenants. */
  #toShown(job: ShownJob): ShownJob {
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

  /** `why` could not explain a limit set here; the configuration sets `queues.<name>.limiter`. */
  override get supportsGlobalRateLimit(): boolean {
    return false;
  }
}

const HIDDEN = 'It failed; only its tenant sees the reason.';

type ShownJob = Awaited<ReturnType<BullMQAdapter['getJobs']>>[number];
type JobFields = ReturnType<ShownJob['toJSON']>;

function withTaskPriority(fields: JobFields): JobFields {
  const { priority } = fields.opts as { priority?: number };
  if (!priority) return fields;
  return { ...fields, priority: taskPriority(priority), opts: { ...fields.opts, priority: taskPriority(priority) } };
}

/** The lane of a ticket of the default tenant; null for other tenants, because sessions are often named after people. */
function laneOf(data: TicketData): string | null {
  return isOwn(data) ? (data.lane ?? null) : null;
}

/** Whether the job belongs to the default tenant, or to none. */
function isOwn(data: unknown): boolean {
  return typeof data !== 'object' || data === null || !('tenant' in data) || data.tenant === DEFAULT_TENANT;
}

function taskPath({ tenant, task }: TicketData): string {
  return `/tasks/${encodeURIComponent(task)}?tenant=${encodeURIComponent(tenant)}`;
}
