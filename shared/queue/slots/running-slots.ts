import type { TaskQueue } from '../../config/index.ts';
import type { SlotPool } from '../../ledger/index.ts';
import { PRIORITY_NAMES } from '../../tasks/index.ts';
import { type Band, BANDS, bandOf, MAX_LOW, maxAwaited, maxLowBesideOthers, type SlotPolicy } from './slot-policy.ts';

/** What a slot is used for. */
export interface SlotUse {
  queue: TaskQueue;
  priority: number;
  /** When its task was accepted, ms since the epoch. */
  acceptedAt: number;
  /** The key that waits for it. */
  awaitedBy?: string | undefined;
}

/** RunningSlots is responsible for counting what a worker's slots are used for, so that each free one goes where it belongs. */
export class RunningSlots {
  readonly #policy: SlotPolicy;
  readonly #limits: SlotPool['limits'];
  readonly #queues = new Map<TaskQueue, number>();
  readonly #bands: Record<Band, number> = { high: 0, normal: 0, low: 0 };
  /** Tasks beside chats that a key waits for, by key. */
  readonly #awaited = new Map<string, number>();

  constructor(policy: SlotPolicy, limits: SlotPool['limits'] = {}) {
    this.#policy = policy;
    this.#limits = limits;
  }

  /** Uses a slot until the function that it returns is called. `now`: ms since the epoch. */
  use(use: SlotUse, now: number): () => void {
    const band = use.queue === 'critical' ? null : bandOf(use, this.#policy, now);
    this.#count(use, band, 1);
    let isUsed = true;
    return () => {
      if (isUsed) this.#count(use, band, -1);
      isUsed = false;
    };
  }

  get running(): number {
    return this.#ordinary + this.#of('critical');
  }

  /** Slots that may start a ticket of this queue, when so many are about to start others. */
  freeFor(queue: TaskQueue, asked = 0): number {
    const { free, ordinary, people } = this.#free(asked);
    if (queue === 'critical') return free;
    return queue === 'chat' ? ordinary : ordinary - people;
  }

  /** What a claim has to know. `asked`: slots that other claims may fill meanwhile; `foreign`: see `SlotPool`. */
  pool(asked: number, foreign: string): SlotPool {
    const { weights, shares, lowAgeMs } = this.#policy;
    return {
      ...this.#free(asked),
      keys: Object.fromEntries([...this.#awaited.keys()].map((key) => [key, true])),
      queues: Object.fromEntries([...weights].map(([queue, weight]) => [queue, { weight, running: this.#of(queue) }])),
      bands: Object.fromEntries(BANDS.map((band) => [band, { share: shares[band], running: this.#bands[band] }])),
      maxLow: maxLowBesideOthers(this.#policy),
      highFrom: PRIORITY_NAMES.high,
      lowTo: MAX_LOW,
      lowAgeMs,
      foreign,
      limits: this.#limits,
    };
  }

  #free(asked: number): Pick<SlotPool, 'free' | 'ordinary' | 'people' | 'awaited'> {
    const { slots, reserved, people } = this.#policy;
    const free = Math.max(0, slots - this.running - asked);
    const ordinary = Math.max(0, Math.min(free, slots - reserved - this.#ordinary - asked));
    const awaited = Math.min(maxAwaited(this.#policy), sumOf(this.#awaited.values()));
    return {
      free,
      ordinary,
      people: Math.max(0, Math.min(ordinary, people - this.#of('chat') - awaited)),
      awaited: Math.max(0, maxAwaited(this.#policy) - awaited),
    };
  }

  get #ordinary(): number {
    return sumOf(Object.values(this.#bands));
  }

  #of(queue: TaskQueue): number {
    return this.#queues.get(queue) ?? 0;
  }

  #count({ queue, awaitedBy }: SlotUse, band: Band | null, change: 1 | -1): void {
    this.#queues.set(queue, this.#of(queue) + change);
    if (band !== null) this.#bands[band] += change;
    if (awaitedBy === undefined || queue === 'chat' || queue === 'critical') return;
    const left = (this.#awaited.get(awaitedBy) ?? 0) + change;
    if (left > 0) this.#awaited.set(awaitedBy, left);
    else this.#awaited.delete(awaitedBy);
  }
}

function sumOf(counts: Iterable<number>): number {
  return [...counts].reduce((sum, count) => sum + count, 0);
}
