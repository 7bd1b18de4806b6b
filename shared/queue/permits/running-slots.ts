import type { TaskQueue } from '../../config/index.ts';
import type { PoolFigures } from '../../ledger/index.ts';
import { PRIORITY_NAMES } from '../../tasks/index.ts';
import {
  BANDS,
  bandOf,
  chooseNext,
  MAX_LOW,
  maxLowBesideOthers,
  roomFor,
  type RunningTickets,
  type SlotPolicy,
  type WaitingTicket,
} from './choose-next.ts';
import { kindOf, type PermitKind } from './lease-permits.ts';
import type { Permit } from './permit-line.ts';

/** Only low tickets are in it. */
const LOW_QUEUE: TaskQueue = 'background';

/** RunningSlots is responsible for counting what a worker's slots are used for, so that each free one goes where it belongs. */
export class RunningSlots {
  readonly #policy: SlotPolicy;
  readonly #counts = {
    queues: new Map<TaskQueue, number>(),
    bands: { high: 0, normal: 0, low: 0 },
    fetching: 0,
    handingOver: 0,
  } satisfies RunningTickets;

  constructor(policy: SlotPolicy) {
    this.#policy = policy;
  }

  /** How many more tickets of a kind may run. */
  roomFor(kind: PermitKind): number {
    return roomFor(kind, this.#counts, this.#policy);
  }

  /** Which of these tickets gets the next free slot; null when none may have it now. */
  choose<Ticket extends WaitingTicket>(waiting: readonly Ticket[]): Ticket | null {
    return chooseNext(waiting, this.#counts, this.#policy, Date.now());
  }

  /**
   * Whether the next ticket of a permit's taker would be chosen before all that wait. While that taker waits for no other slot, its next
   * ticket is unknown and counts like its last one.
   */
  keepsSlot(permit: Permit, waiting: readonly (WaitingTicket & { taker: string })[]): boolean {
    if (permit.ticket === null) return false;
    const own = waiting.find(({ taker }) => taker === permit.taker) ?? permit.ticket;
    const others = waiting.filter((each) => each !== own);
    this.#count(permit, -1);
    const chosen = this.choose([own, ...others]);
    this.#count(permit, 1);
    return chosen === own;
  }

  /** Whether a ticket of this queue may have to wait for others, of which so many wait and some may be under way. */
  mayHoldBack(queue: TaskQueue, others: number): boolean {
    const { bands, fetching } = this.#counts;
    return queue === LOW_QUEUE && fetching + others > 0 && bands.low >= maxLowBesideOthers(this.#policy);
  }

  /** Whether some slot's ticket is still being fetched. */
  get isFetching(): boolean {
    return this.#counts.fetching > 0;
  }

  /** Uses a slot for a ticket of this queue; `next` is what its ticket probably is. */
  take({ queue, taker }: Pick<Permit, 'queue' | 'taker'>, lease: number, next: WaitingTicket | null): Permit {
    const guess = queue === LOW_QUEUE ? 'low' : 'normal';
    const band = next ? bandOf(next, this.#policy, Date.now()) : guess;
    const permit: Permit = { queue, taker, lease, band, ticket: null, isHandingOver: false };
    this.#count(permit, 1);
    this.#countFetch(permit, 1);
    return permit;
  }

  /** A slot's ticket has ended, and the ledger chooses its next one. */
  handOver(permit: Permit): void {
    if (permit.isHandingOver) return;
    this.#count(permit, -1);
    this.#countFetch(permit, -1);
    permit.isHandingOver = true;
    this.#counts.handingOver += 1;
  }

  /** What the ledger has to know to choose a slot's next ticket as `choose` does. */
  figuresFor(kind: PermitKind): PoolFigures {
    const { queues, bands, fetching } = this.#counts;
    const { weights, shares, lowAgeMs } = this.#policy;
    return {
      kind,
      queues: Object.fromEntries([...weights].map(([queue, weight]) => [queue, { weight, running: queues.get(queue) ?? 0 }])),
      bands: Object.fromEntries(BANDS.map((band) => [band, { share: shares[band], running: bands[band] }])),
      fetching,
      maxLow: maxLowBesideOthers(this.#policy),
      highFrom: PRIORITY_NAMES.high,
      lowTo: MAX_LOW,
      lowAgeMs,
    };
  }

  /** Counts a slot by the ticket that it is really used for. */
  noteTicket(permit: Permit, ticket: WaitingTicket): void {
    this.#uncount(permit);
    permit.queue = ticket.queue;
    permit.band = bandOf(ticket, this.#policy, Date.now());
    permit.ticket = ticket;
    this.#count(permit, 1);
  }

  release(permit: Permit): void {
    this.#uncount(permit);
  }

  #uncount(permit: Permit): void {
    if (permit.isHandingOver) {
      this.#counts.handingOver -= 1;
    } else {
      this.#count(permit, -1);
      this.#countFetch(permit, -1);
    }
    permit.isHandingOver = false;
  }

  #count({ queue, band }: Permit, change: 1 | -1): void {
    const { queues, bands } = this.#counts;
    queues.set(queue, (queues.get(queue) ?? 0) + change);
    if (kindOf(queue) === 'ordinary') bands[band] += change;
  }

  #countFetch({ queue, ticket }: Permit, change: 1 | -1): void {
    if (ticket === null && kindOf(queue) === 'ordinary') this.#counts.fetching += change;
  }
}
