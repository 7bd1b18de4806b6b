import { type ClaimIsolation, claimForSlots, type Ledger, type SlotAnswer, type SlotClaim, type SlotPool } from '../../ledger/index.ts';
import type { TaskQueue } from '../../config/index.ts';
import type { Clock } from '../../time/index.ts';
import type { JobSource } from '../consumer/job-source.ts';
import type { ForeignAgents } from '../registry/foreign-agents.ts';
import type { FetchedJob } from './job-fetcher.ts';
import type { RunningSlots } from './running-slots.ts';
import type { SlotPolicy } from './slot-policy.ts';

/** What the slots of one shard want: see `SlotClaim`. */
export interface Wish {
  count: number;
  drawn: FetchedJob[];
  ended: string[];
  /** Further shards that are asked for what this one cannot fill; a look of idle slots asks them in any case. */
  others: number;
  isLook: boolean;
}

const nothing = (): Wish => ({ count: 0, drawn: [], ended: [], others: 0, isLook: false });

export interface SlotClaimsOptions {
  ledger: Ledger;
  source: JobSource;
  worker: string;
  policy: SlotPolicy;
  slots: RunningSlots;
  apart: ReadonlySet<TaskQueue>;
  /** Agents that other workers have and this one lacks, as `SlotPool` has them. */
  foreign: Pick<ForeignAgents, 'text' | 'isOld' | 'refresh'>;
  isolation: () => ClaimIsolation | undefined;
  clock: Clock;
  /** Uses slots for what a claim got. Returns what starts the tasks. */
  onAnswer: (shard: number, wish: Wish, answer: SlotAnswer) => (() => void)[];
  /** A claim could not be sent, or was not answered. */
  onLost: (wish: Wish) => void;
  /** A claim has ended: fewer slots are asked for than before. */
  onFree: () => void;
}

/**
 * Slots that one claim fills at most: half of them, within these bounds. While Redis serves the claim of one half, this process runs the tasks of
 * the other; with all slots in one claim the two would work by turns. Measured by `npm run bench`.
 */
const MIN_CLAIMED = 16;
const MAX_CLAIMED = 64;

/** SlotClaims is responsible for asking the shards for tasks: it has one claim of a shard under way at a time, so that each knows what runs. */
export class SlotClaims {
  readonly #options: SlotClaimsOptions;
  readonly #maxClaimed: number;
  /** By shard: what the next claim asks for, and whether one is under way. */
  readonly #wishes: Wish[];
  readonly #claiming: boolean[];
  /** Slots that claims under way may fill. */
  #asked = 0;
  /** The shard that the next free slot asks first, when there are several. */
  #next = 0;
  #isQuiet = false;
  /** Whether the last call failed: see `resume`. */
  #isAway = false;
  /** Monotonic, ms: the last claim that was answered. */
  #answeredAt: number;

  constructor(options: SlotClaimsOptions) {
    const shards = Array.from({ length: options.ledger.keys.shards });
    this.#options = options;
    this.#maxClaimed = Math.min(MAX_CLAIMED, Math.max(MIN_CLAIMED, Math.ceil(options.policy.slots / 2)));
    this.#wishes = shards.map(nothing);
    this.#claiming = shards.map(() => false);
    this.#answeredAt = options.clock.monotonic();
  }

  /** Since when no claim was answered, ms. */
  get silentMs(): number {
    return this.#options.clock.monotonic() - this.#answeredAt;
  }

  /** The ledger said without a claim that there is nothing to claim. */
  noteAnswer(): void {
    this.#answeredAt = this.#options.clock.monotonic();
  }

  /** Slots for any ticket that no claim under way may fill. */
  get free(): number {
    return this.freeFor('critical');
  }

  freeFor(queue: TaskQueue): number {
    return this.#options.slots.freeFor(queue, this.#asked);
  }

  /** The shard that is asked next: each in its turn. */
  turn(): number {
    this.#next = (this.#next + 1) % this.#wishes.length;
    return this.#next;
  }

  /** Goes on after a call that failed. */
  resume(): void {
    this.#isAway = false;
  }

  /** Resolves once each shard knows that this worker takes nothing more. */
  async quiet(): Promise<void> {
    this.#isQuiet = true;
    await Promise.all(this.#wishes.map((_, shard) => this.#claim(shard, nothing())));
  }

  /** Asks a shard for tasks. */
  ask(shard: number, { count = 0, drawn = [], ended = [], others = 0, isLook = false }: Partial<Wish>): void {
    const wish = this.#wishes[shard];
    if (!wish) return;
    wish.count += count;
    wish.drawn.push(...drawn);
    wish.ended.push(...ended);
    wish.others = Math.max(wish.others, others);
    wish.isLook ||= isLook;
    if (this.#claiming[shard] || this.#isAway) return;
    this.#wishes[shard] = nothing();
    void this.#claim(shard, wish);
  }

  /** `isUrgent`: the claim is sent before the tasks start that the one before it got. */
  async #claim(shard: number, wish: Wish, isUrgent = false): Promise<void> {
    this.#claiming[shard] = true;
    const wanted = Math.min(wish.count, this.free);
    const count = Math.min(wanted, Math.max(this.#maxClaimed, wish.drawn.length));
    const pool = this.#pool();
    this.#asked += count;
    let starts: (() => void)[] = [];
    try {
      const answer = await this.#send(shard, { ...wish, count }, { pool, left: wanted - count, isUrgent });
      this.#answeredAt = this.#options.clock.monotonic();
      this.#asked -= count;
      starts = this.#options.onAnswer(shard, wish, answer);
      this.#askForRest(shard, wish, { count, left: wanted - answer.tickets.length, isFilled: answer.tickets.length === count });
    } catch (error) {
      this.#asked -= count;
      // A call that waits for Redis would start tasks of which this worker never hears.
      this.#isAway = true;
      this.#options.source.log.debug({ err: error, shard }, 'slots could not claim now');
      this.#options.onLost(wish);
    }
    this.#claiming[shard] = false;
    this.#claimNext(shard);
    for (const start of starts) start();
    this.#options.onFree();
  }

  #claimNext(shard: number): void {
    const next = this.#wishes[shard];
    if (!next || this.#isAway || (next.count === 0 && next.drawn.length === 0 && !next.isLook)) return;
    this.#wishes[shard] = nothing();
    void this.#claim(shard, next, true);
  }

  /** Slots that a claim left: this shard fills further ones only where it has filled all that the claim was for; else the next shard may. */
  #askForRest(
    shard: number,
    { others, isLook }: Wish,
    { count, left, isFilled }: { count: number; left: number; isFilled: boolean },
  ): void {
    if (isFilled && count > 0 && left > 0) return this.ask(shard, { count: left, others, isLook });
    if (others === 0 || (left <= 0 && !isLook)) return;
    this.ask((shard + 1) % this.#wishes.length, { count: Math.max(0, left), others: others - 1, isLook });
  }

  #pool(): SlotPool {
    const { slots, foreign } = this.#options;
    return this.#isQuiet ? closedPool(slots.pool(0, '')) : slots.pool(this.#asked, foreign.text);
  }

  async #send(shard: number, { count, drawn, ended }: Wish, how: Pick<SlotClaim, 'pool' | 'left' | 'isUrgent'>): Promise<SlotAnswer> {
    const { ledger, worker, policy, apart, isolation, source, foreign } = this.#options;
    if (foreign.isOld && !this.#isQuiet) {
      await foreign.refresh();
      how.pool.foreign = foreign.text;
    }
    return await claimForSlots(ledger, {
      shard,
      worker,
      queues: [...policy.weights.keys()].map((queue) => ({
        queue,
        pauses: source.queues.get(shard, queue).toKey('meta'),
        isApart: apart.has(queue),
      })),
      ...how,
      count: this.#isQuiet ? 0 : count,
      drawn: drawn.map(({ job }) => ({ tenant: job.data.tenant, task: job.data.task, isSecond: job.attemptsStarted > 1 })),
      ended,
      isolation: isolation(),
    });
  }
}

/** The pool of a worker that takes nothing more. */
function closedPool(pool: SlotPool): SlotPool {
  return { ...pool, free: 0, ordinary: 0, people: 0, awaited: 0 };
}
