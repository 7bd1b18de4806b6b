import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { countReady, type Ledger, type RunningTask } from '#shared/ledger/index.ts';
import {
  activeJobs,
  countActive,
  findLedgerJob,
  type QueueName,
  readyJobs,
  readyJobsOf,
  taskPriority,
  type TicketData,
  type TicketQueue,
} from '#shared/queue/index.ts';
import { DEFAULT_TENANT, publicTenantId } from '#shared/tenants/index.ts';
import type { TicketJob } from './ticket-actions.ts';

export interface TicketAdapterOptions {
  ledger: Ledger;
  shard: number;
  /** With several shards each has a queue of this name, and the board shows the shard. */
  hasShards: boolean;
  name: QueueName;
  queue: TicketQueue;
  /** Reads what runs in a shard, once for all queues that the board counts together. */
  readRunning: (shard: number) => Promise<readonly RunningTask[]>;
  /** Shows no actions, for keys without the scope `operate`. */
  isReadOnly: boolean;
}

const DESCRIPTIONS: Readonly<Partial<Record<QueueName, string>>> = {
  deliveries: 'Callbacks; retried by POST /v1/deliveries/:id/retry',
  replies: 'Replies to chats; retried by POST /v1/deliveries/:id/retry',
  maintenance: 'The fleet’s own chores',
  ticks: 'The clock of the schedules; a change here is undone',
};
/** Of queues of tasks. */
const DESCRIPTION = 'Completed has only what went through BullMQ; the console lists all tasks that ended';

/**
 * TicketAdapter is responsible for how the board shows one queue: its actions, the fields of its tickets, and besides those that BullMQ has
 * the ones that are ready in the ledger and those of tasks that free slots took from there.
 */
export class TicketAdapter extends BullMQAdapter {
  readonly tickets: TicketQueue;
  /** A completed task is terminal; only a failed task opens again. */
  override readonly allowCompletedRetries = false;
  readonly #carriesTasks: boolean;
  readonly #ledger: Ledger;
  readonly #shard: number;
  readonly #readRunning: TicketAdapterOptions['readRunning'];

  constructor({ ledger, shard, hasShards, name, queue, readRunning, isReadOnly }: TicketAdapterOptions) {
    // A delivery's job names its task too, but the delivery's record decides its state.
    const namesTask = name !== 'maintenance' && name !== 'ticks';
    const carriesTasks = namesTask && name !== 'deliveries' && name !== 'replies';
    super(queue, {
      prefix: hasShards ? `s${shard}:` : '',
      delimiter: hasShards ? ':' : '',
      // The fleet's own chores repair it, so the board neither stops nor removes them.
      readOnlyMode: isReadOnly || !carriesTasks,
      description: DESCRIPTIONS[name] ?? DESCRIPTION,
      ...(namesTask ? { externalJobUrl: ({ data }: { data: TicketData }) => ({ href: taskPath(data), displayText: 'Task' }) } : {}),
    });
    this.tickets = queue;
    this.#ledger = ledger;
    this.#shard = shard;
    this.#readRunning = readRunning;
    this.#carriesTasks = carriesTasks;
    if (namesTask) {
      this.setFormatter(
        'name',
        (job: { name: string; data: TicketData }) => `${job.name} · ${laneOf(job.data) ?? publicTenantId(job.data.tenant)}`,
      );
      this.setFormatter('data', (data: TicketData) => ({ tenant: publicTenantId(data.tenant), task: data.task, lane: laneOf(data) }));
    }
  }

  override async getJobCounts(): ReturnType<BullMQAdapter['getJobCounts']> {
    if (!this.#carriesTasks) return await super.getJobCounts();
    const [counts, ready, active] = await Promise.all([
      super.getJobCounts(),
      countReady(this.#ledger, this.#shard, this.tickets.name),
      countActive(this.tickets, this.#readRunning(this.#shard)),
    ]);
    // A job of BullMQ wakes a slot; what waits is the ledger's.
    return { ...counts, active, waiting: 0, prioritized: ready };
  }

  override async getJob(id: string): Promise<ShownJob | undefined> {
    const job = await this.findTicket(id);
    return job ? this.#toShown(job) : undefined;
  }

  /** The ticket of this id, in BullMQ or the ledger. */
  async findTicket(id: string): Promise<TicketJob | undefined> {
    return (await this.tickets.getJob(id)) ?? (await findLedgerJob(this.#ledger, this.tickets, id));
  }

  override async getJobs(...[states, start = 0, end = -1]: Parameters<BullMQAdapter['getJobs']>): Promise<ShownJob[]> {
    const jobs = this.#carriesTasks ? await this.#taskJobs(states, start, end) : await super.getJobs(states, start, end);
    return jobs.filter(Boolean).map((job) => this.#toShown(job));
  }

  /** Active ones first, as the board names its states; those that wait for a slot last. */
  async #taskJobs(states: Parameters<BullMQAdapter['getJobs']>[0], start: number, end: number): Promise<ShownJob[]> {
    const range: [number, number] = [start, end < 0 ? Infinity : end + 1];
    const held = states.includes('active') ? await activeJobs(this.tickets, this.#readRunning(this.#shard), range) : [];
    const others = states.filter((state) => state !== 'active' && state !== 'waiting' && state !== 'prioritized');
    const ended = others.length === 0 ? [] : await super.getJobs(others, start, end);
    const waiting = states.includes('prioritized') ? await readyJobs(this.#ledger, this.#shard, this.tickets, range) : [];
    return [...held, ...ended, ...waiting];
  }

  /** Ready tickets of the default tenant, which the buttons of a list change. */
  async ownReady(max: number): Promise<TicketJob[]> {
    const isHere = this.#carriesTasks && this.#ledger.keys.shardOf(DEFAULT_TENANT) === this.#shard;
    return isHere ? await readyJobsOf(this.#ledger, DEFAULT_TENANT, this.tickets, max) : [];
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
