import { parseOutboxEntry } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import type { Keys, RedisClient } from '../../redis/index.ts';
import type { Queues } from '../queues.ts';
import { type Ticket, ticketJob } from './ticket.ts';

export interface TicketRelayOptions {
  redis: RedisClient;
  keys: Keys;
  queues: Queues;
  /** The tickets of these outbox entries that are still to be added. */
  readOwed?: (entries: readonly string[]) => Promise<Ticket[]>;
  log: Log;
}

/** Tickets of one call to BullMQ. */
const BATCH = 128;
/** Tickets kept in memory. More are read from the outbox once these are delivered. */
const BUFFER = 10_000;
/** Entries of the outbox that are read together. */
const PAGE = 128;
/** Entries remembered once the buffer is empty. The sweep clears forgotten ones. */
const MAX_OWED = 1000;

/**
 * TicketRelay is responsible for adding the outbox's new tickets to BullMQ, many in one round trip, so that accepting waits for one
 * script only. It reads tickets that found no room from the outbox; the sweep adds the ones that it cannot deliver.
 */
export class TicketRelay {
  readonly #options: TicketRelayOptions;
  #buffer: Ticket[] = [];
  /** Outbox entries of which some tickets are not delivered yet -> how many. */
  readonly #owed = new Map<string, number>();
  /** Shards whose outbox has tickets that found no room. */
  readonly #overflowed = new Set<number>();
  /** Removals of delivered entries that are under way: the next tickets need not wait for them. */
  readonly #removing = new Set<Promise<void>>();
  #running: Promise<void> | undefined;

  constructor(options: TicketRelayOptions) {
    this.#options = options;
  }

  /** Accepts a ticket that is in the outbox. */
  add(ticket: Ticket): void {
    if (this.#buffer.length >= BUFFER) {
      if (this.#options.readOwed) this.#overflowed.add(this.#options.keys.shardOf(ticket.tenant));
      return;
    }
    this.#buffer.push(ticket);
    this.#running ??= this.#drain();
  }

  /** Resolves when each ticket so far was delivered or left to the sweep. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #drain(): Promise<void> {
    // What arrives in the same turn of the event loop goes in the same batch.
    await new Promise(setImmediate);
    while (this.#buffer.length > 0 || this.#overflowed.size > 0) {
      const batch = this.#buffer.splice(0, BATCH);
      try {
        if (batch.length > 0) await this.#deliver(batch);
        else await this.#deliverOverflow();
      } catch (error) {
        this.#overflowed.clear();
        this.#options.log.warn({ err: error, tickets: batch.length }, 'tickets could not be added now; the sweep will add them');
      }
    }
    await Promise.all(this.#removing);
    if (this.#buffer.length > 0 || this.#overflowed.size > 0) return await this.#drain();
    // Entries with dropped or failed tickets are the sweep's, and must not gather here.
    if (this.#owed.size > MAX_OWED) this.#owed.clear();
    this.#running = undefined;
  }

  /** Delivers the oldest page of an outbox that has tickets which found no room here. */
  async #deliverOverflow(): Promise<void> {
    const { redis, keys, readOwed } = this.#options;
    const [shard] = this.#overflowed;
    if (shard === undefined || !readOwed) return;
    await Promise.all(this.#removing);
    const { outbox } = keys.shard(shard);
    const entries = await redis.zrange(outbox, '0', String(PAGE - 1));
    if (entries.length < PAGE) this.#overflowed.delete(shard);
    if (entries.length === 0) return;
    const tickets = await readOwed(entries);
    for (let from = 0; from < tickets.length; from += BATCH) await this.#deliver(tickets.slice(from, from + BATCH));
    // Also entries without an owed ticket.
    await redis.zrem(outbox, ...entries);
    for (const entry of entries) this.#owed.delete(entry);
  }

  async #deliver(batch: Ticket[]): Promise<void> {
    const { keys, queues } = this.#options;
    const groups = Map.groupBy(batch, (ticket) => queues.get(keys.shardOf(ticket.tenant), ticket.queue));
    const adding = [...groups].map(async ([queue, tickets]) => {
      await queue.addBulk(tickets.map((ticket) => ticketJob(ticket)));
      const settled = this.#settle(tickets);
      if (settled.length > 0) this.#remove(keys.shardOf(tickets[0]?.tenant ?? ''), settled);
    });
    // All of them, so that the delivered tickets are counted before a failure ends this.
    const failed = (await Promise.allSettled(adding)).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  }

  #remove(shard: number, entries: readonly string[]): void {
    const { redis, keys, log } = this.#options;
    // An entry that stays when this fails costs one needless ticket, which its claim refuses.
    const removing = redis
      .zrem(keys.shard(shard).outbox, ...entries)
      .then(
        () => undefined,
        (error: unknown) =>
          log.warn({ err: error, entries: entries.length }, 'entries of the outbox could not be removed; the sweep will remove them'),
      )
      .finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }

  /** The outbox entries whose last ticket is among these. */
  #settle(tickets: Ticket[]): string[] {
    const settled: string[] = [];
    for (const { entry } of tickets) {
      const left = (this.#owed.get(entry) ?? parseOutboxEntry(entry).tickets.length) - 1;
      if (left === 0) settled.push(entry);
      if (left === 0) this.#owed.delete(entry);
      else this.#owed.set(entry, left);
    }
    return settled;
  }
}
