import { type EndedTask, acknowledgeEnded, type Ledger, listEnded, readTask } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import { dropDeliveryJob, ensureDeliveryJob, type Queues } from '../queue/index.ts';
import { isTerminal } from '../tasks/index.ts';
import type { Clock } from '../time/index.ts';
import { DELIVERY_KINDS, type Delivery, type DeliveryKind } from './delivery.ts';
import { dropDue, readDelivery, takeDue, type StoredDelivery } from './delivery-store.ts';
import { endDelivery } from './end-delivery.ts';
import { HeldDelivery } from './held-delivery.ts';
import { openDelivery } from './open-delivery.ts';

export interface DeliverySweepOptions {
  ledger: Ledger;
  queues: Queues;
  clock: Clock;
  log: Log;
}

/** Ends and deliveries of one step, per shard and kind. */
const BATCH = 200;
/** Steps of one look, while there are more ends. */
const STEPS = 20;
/** Of them this many at once. */
const AT_ONCE = 20;

/**
 * DeliverySweep is responsible for every task's end that somebody outside waits for becoming a delivery with a job, whoever died
 * before. An end is forgotten as soon as its delivery is recorded: from then on the delivery is looked up until it is done.
 */
export class DeliverySweep {
  readonly #options: DeliverySweepOptions;

  constructor(options: DeliverySweepOptions) {
    this.#options = options;
  }

  /** One bounded look at one shard. What fails is logged, and comes again with the next. */
  async look(shard: number): Promise<void> {
    for (const kind of DELIVERY_KINDS) await this.#tellEnds(shard, kind);
    const due = await takeDue(this.#options.ledger, shard, this.#options.clock.now(), BATCH);
    await eachBounded(due, ({ tenant, id }) => this.#guard(id, () => this.#audit(tenant, id)));
  }

  /** As fast as tasks end; what fails comes again with the next look. */
  async #tellEnds(shard: number, kind: DeliveryKind): Promise<void> {
    for (let step = 0; step < STEPS; step += 1) if (!(await this.#tellSome(shard, kind))) return;
  }

  /** Returns whether there may be more to tell. */
  async #tellSome(shard: number, kind: DeliveryKind): Promise<boolean> {
    const { ledger } = this.#options;
    const ended = await listEnded(ledger, shard, kind, BATCH);
    const told: string[] = [];
    await eachBounded(ended, (end) =>
      this.#guard(end.task, async () => {
        if (await this.#tell(end, kind)) told.push(end.member);
      }),
    );
    await acknowledgeEnded(ledger, shard, told);
    return ended.length === BATCH && told.length > 0;
  }

  /** One that a platform or an endpoint asked to come later keeps its time. Returns whether the end has its delivery. */
  async #tell({ tenant, task, endedAt }: EndedTask, kind: DeliveryKind): Promise<boolean> {
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
    // One without a time is worked on, or left its slot because its task only waits: no reason to take it back in.
    await this.#ensure(found.delivery, nextTryAt !== null && this.#isOver(nextTryAt));
  }

  /** A reply that is older than its process would try it has none: whoever works on one ends it by then. */
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
      this.#options.log.warn({ err: error, name }, 'a delivery could not be looked up now; it is again later');
    }
  }
}

async function eachBounded<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += AT_ONCE) await Promise.all(items.slice(from, from + AT_ONCE).map(work));
}
