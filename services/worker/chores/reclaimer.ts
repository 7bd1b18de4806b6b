import { expireOfProcess, routeOfLoss } from '#shared/execution/index.ts';
import { adoptWindow, parseLease, parseOutboxEntry, readState, reissueTicket } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import { type Intake, ticketOfState } from '#shared/queue/index.ts';
import { isRedisUnavailable, redisNow } from '#shared/redis/index.ts';
import { workerOf } from '#shared/tasks/index.ts';
import { eachShard } from './each-shard.ts';

interface ReclaimerOptions extends Intake {
  log: Log;
  /** Called with each worker whose attempts were taken back, once in a round. */
  onLost: (worker: string) => void;
}

/** After an outage of Redis, the holders of leases that ran out meanwhile get this long to settle their attempts. */
const AFTER_OUTAGE_MS = 3000;
/** Entries of one set read together, and in one round. */
const PAGE = 200;
const MAX_PER_ROUND = 5000;

/**
 * Reclaimer is responsible for what crashes leave behind: attempts whose lease ran out and tickets that never reached
 * BullMQ. Every worker looks; each step is one script that does nothing the second time.
 */
export class Reclaimer {
  readonly #options: ReclaimerOptions;
  /** Shards whose last round failed. */
  readonly #wereAway = new Set<number>();
  /** Shards in which nothing of an earlier release is left. */
  readonly #hasAdopted = new Set<number>();
  /** From when on leases of a shard expire, by Redis's clock, ms since the epoch. */
  readonly #expireFrom = new Map<number, number>();

  constructor(options: ReclaimerOptions) {
    this.#options = options;
  }

  async reclaimAttempts(): Promise<void> {
    const { keys, redis } = this.#options.ledger;
    const now = await redisNow(redis).catch((error: unknown) => {
      for (let shard = 0; shard < keys.shards; shard += 1) this.#wereAway.add(shard);
      throw error;
    });
    const lost = new Set<string>();
    await eachShard(keys, async (shard) => {
      if (this.#wereAway.delete(shard)) this.#expireFrom.set(shard, now + AFTER_OUTAGE_MS);
      try {
        if (now >= (this.#expireFrom.get(shard) ?? 0))
          await this.#eachDue(keys.shard(shard).leases, now, (member) => this.#expire(member, lost));
      } catch (error) {
        this.#wereAway.add(shard);
        throw error;
      }
    }).finally(() => lost.forEach((worker) => this.#options.onLost(worker)));
  }

  async reissueTickets(): Promise<void> {
    const { ledger } = this.#options;
    const before = (await redisNow(ledger.redis)) - ledger.settings.worker.outboxSweepMs;
    await eachShard(ledger.keys, async (shard) => {
      await this.#eachDue(ledger.keys.shard(shard).outbox, before, (entry) => this.#reissue(shard, entry));
      if (!this.#hasAdopted.has(shard)) await this.#adopt(shard);
    });
  }

  /** What a release before left in BullMQ alone. */
  async #adopt(shard: number): Promise<void> {
    const { ledger, log } = this.#options;
    const tickets = await adoptWindow(ledger, shard);
    this.#hasAdopted.add(shard);
    if (tickets > 0) log.info({ event: 'tickets.adopted', shard, tickets }, 'tasks of an earlier release wait for a slot again');
  }

  async #eachDue(key: string, until: number, handle: (member: string) => Promise<void>): Promise<void> {
    let failed = 0;
    for (let seen = 0; seen < MAX_PER_ROUND; seen += PAGE) {
      const due = await this.#options.ledger.redis.zrangebyscore(key, '-inf', until, 'LIMIT', failed, PAGE);
      const areDone = await Promise.all(due.map((member) => this.#handleSafely(member, handle)));
      failed += areDone.filter((isDone) => !isDone).length;
      if (due.length < PAGE) return;
    }
  }

  /** One bad entry must not keep the others from being reclaimed. Returns whether it was reclaimed. */
  async #handleSafely(member: string, handle: (member: string) => Promise<void>): Promise<boolean> {
    try {
      await handle(member);
      return true;
    } catch (error) {
      if (isRedisUnavailable(error)) throw error;
      this.#options.log.error({ err: error, member }, 'an entry could not be reclaimed');
      return false;
    }
  }

  async #expire(member: string, lost: Set<string>): Promise<void> {
    const { ledger, log } = this.#options;
    const { tenant, id, token } = parseLease(member);
    const state = await readState(ledger, tenant, id);
    const worker = state?.worker;
    const loss = { worker, ...(await routeOfLoss(this.#options, tenant, state)) };
    const answer = await expireOfProcess(ledger, { tenant, id, token, lane: state?.lane ?? null }, loss);
    if (answer === 'held' || answer === 'gone') return;
    log.warn({ event: 'task.orphaned', task: id, tenant, worker, outcome: answer }, 'reclaimed a task of a lost worker');
    if (worker !== undefined) lost.add(workerOf(worker));
  }

  async #reissue(shard: number, entry: string): Promise<void> {
    const { ledger, relay, log } = this.#options;
    const { tenant, tickets } = parseOutboxEntry(entry);
    for (const ticket of tickets) {
      const state = await reissueTicket(ledger, tenant, ticket);
      if (!state) continue;
      log.info(
        { event: 'ticket.reissued', task: ticket.task, tenant, ticket: state.ticket },
        'added a ticket that had not reached the queue',
      );
      relay.add(ticketOfState(tenant, ticket.task, state));
    }
    // Last, so that an entry with tickets left is read again.
    await ledger.redis.zrem(ledger.keys.shard(shard).outbox, entry);
  }
}
