import { type EndedTask, acknowledgeEnded, type Ledger, listEnded, readTask } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import { dropDeliveryJob, ensureDeliveryJob, type Queues } from '../queue/index.ts';
import { isTerminal } from '../tasks/index.ts';
import type { Clock } from '../time/index.ts';
import { dropDue, readDelivery, type StoredDelivery, takeDue } from './delivery-store.ts';
import { type Delivery, END_KINDS } from './delivery.ts';
import { endDelivery, HeldDelivery } from './held-delivery.ts';
import { openDelivery } from './open-delivery.ts';

export interface DeliverySweepOptions {
  ledger: Ledger;
  queues: Queues;
  clock: Clock;
  log: Log;
}

type EndKind = (typeof END_KINDS)[number];

/** Ends and deliveries of one batch, per shard and kind. */
const BATCH_SIZE = 200;
/** Batches of one sweep, while there are more ends. */
const MAX_BATCHES = 20;
/** Of a batch this many at once. */
const CONCURRENCY = 20;

/**
 * DeliverySweep is responsible for opening a delivery with a job for each ended task with subscribers, whichever process died before. An
 * end is forgotten once its delivery is recorded; then the delivery's job is checked until it is done.
 */
export class DeliverySweep {
  readonly #options: DeliverySweepOptions;

  constructor(options: DeliverySweepOptions) {
    this.#options = options;
  }

  /** One bounded sweep of one shard. What fails is logged, and comes again with the next. Returns whether there was anything. */
  async sweepShard(shard: number): Promise<boolean> {
    const { redis, keys } = this.#options.ledger;
    const { ended, deliveriesDue } = keys.shard(shard);
    // One command of each process while nothing is delivered.
    if ((await redis.exists(ended, deliveriesDue)) === 0) return false;
    for (const kind of END_KINDS) await this.#openDeliveries(shard, kind);
    const due = await takeDue(this.#options.ledger, shard, this.#options.clock.now(), BATCH_SIZE);
    await eachBounded(due, ({ tenant, id }) => this.#guard(id, () => this.#audit(tenant, id)));
    return true;
  }

  /** As fast as tasks end. */
  async #openDeliveries(shard: number, kind: EndKind): Promise<void> {
    for (let step = 0; step < MAX_BATCHES; step += 1) if (!(await this.#openBatch(shard, kind))) return;
  }

  /** Returns whether there may be more ends. */
  async #openBatch(shard: number, kind: EndKind): Promise<boolean> {
    const { ledger } = this.#options;
    const ended = await listEnded(ledger, shard, kind, BATCH_SIZE);
    const opened: string[] = [];
    await eachBounded(ended, (end) =>
      this.#guard(end.task, async () => {
        if (await this.#openForEnd(end, kind)) opened.push(end.member);
      }),
    );
    await acknowledgeEnded(ledger, shard, opened);
    return ended.length === BATCH_SIZE && opened.length > 0;
  }

  /** A throttled delivery keeps its retry time. Returns whether the end has its delivery. */
  async #openForEnd({ tenant, task, endedAt }: EndedTask, kind: EndKind): Promise<boolean> {
    const { ledger, clock } = this.#options;
    const delivery = await openDelivery(ledger, { tenant, task, kind }, endedAt, clock.now());
    if (delivery === null) return false;
    if (delivery.status === 'pending') await this.#ensure(delivery, delivery.nextTryAt === null || this.#isOver(delivery.nextTryAt));
    return true;
  }

  async #audit(tenant: string, id: string): Promise<void> {
    const { ledger } = this.#options;
    const found = await readDelivery(ledger, tenant, id);
    if (found?.delivery.status !== 'pending') {
      await dropDue(ledger, tenant, id);
      return;
    }
    if (await this.#isAbandoned(found.delivery)) {
      await this.#giveUp(found);
      return;
    }
    const { nextTryAt } = found.delivery;
    // A delivery without a retry time is worked on, or left its slot because its task only waits: its job stays where it is.
    await this.#ensure(found.delivery, nextTryAt !== null && this.#isOver(nextTryAt));
  }

  /** A process ends its reply within the reply's age, so an older reply has no process. */
  async #isAbandoned({ tenant, task: id, kind, openedAt }: Delivery): Promise<boolean> {
    const { ledger, clock } = this.#options;
    const { maxAgeMs, maxThrottleMs, lockMs } = ledger.settings.deliveries;
    const before = clock.now() - maxAgeMs - maxThrottleMs - lockMs;
    if (kind !== 'reply' || openedAt > before) return false;
    const task = await readTask(ledger, tenant, id);
    return task === null || (isTerminal(task.state.status) && (task.state.completedAt ?? 0) < before);
  }

  async #giveUp(found: StoredDelivery): Promise<void> {
    const { ledger, queues, clock, log } = this.#options;
    const held = await HeldDelivery.take(ledger, found, clock);
    if (held === null) return;
    const { tenant, platform } = held.delivery;
    const message = `No process that serves ${platform ?? 'its chat platform'} took it in time`;
    await endDelivery({ clock, log }, held, 'failed', { code: 'no-platform', message });
    await dropDeliveryJob(queues, ledger.keys.shardOf(tenant), held.delivery);
  }

  #isOver(at: number): boolean {
    return at <= this.#options.clock.now();
  }

  async #ensure(delivery: Delivery, isDue: boolean): Promise<void> {
    const { queues, ledger } = this.#options;
    await ensureDeliveryJob(queues, ledger.keys.shardOf(delivery.tenant), delivery, isDue);
  }

  async #guard(name: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.log.warn({ err: error, name }, 'a delivery could not be checked now; the next sweep checks it again');
    }
  }
}

/** Waits for each group before the next. */
async function eachBounded<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += CONCURRENCY) await Promise.all(items.slice(from, from + CONCURRENCY).map(work));
}
