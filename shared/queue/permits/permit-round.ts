import type { WaitingTicket } from './choose-next.ts';
import { kindOf, type PermitKind } from './lease-permits.ts';
import { leaseFor, type PermitLease } from './permit-lease.ts';
import type { Permit, PermitLine, Waiter } from './permit-line.ts';
import type { RunningSlots } from './running-slots.ts';

interface PermitRoundOptions {
  line: PermitLine;
  slots: RunningSlots;
  leases: readonly PermitLease[];
}

interface KnownTicket extends WaitingTicket {
  waiter: Waiter;
}

/** PermitRound is responsible for granting a worker's free slots and permits to the takers that come first. */
export class PermitRound {
  readonly #options: PermitRoundOptions;
  #isDueAgain = false;
  #isLowHeldBack = false;

  constructor(options: PermitRoundOptions) {
    this.#options = options;
  }

  /** Whether free slots were not given to low tickets, since others may come first. */
  get isLowHeldBack(): boolean {
    return this.#isLowHeldBack;
  }

  /** Grants what it can. Returns whether another round must follow. */
  async run(): Promise<boolean> {
    const { leases, line } = this.#options;
    this.#isDueAgain = false;
    for (const lease of leases) await this.#report(lease);
    if (this.#coversAll) {
      for (const waiter of line.all()) line.grant(waiter, this.#takeFor);
      return this.#isDueAgain;
    }
    await line.readNext();
    await this.#askFleet();
    await line.readNew();
    this.#grantBest();
    this.#wakeOthers();
    return this.#isDueAgain;
  }

  async #report(lease: PermitLease): Promise<void> {
    if (await lease.report(this.#wanted(lease.kind))) this.#isDueAgain = true;
  }

  /** How many takers of a kind a free slot could serve. */
  #wanted(kind: PermitKind): number {
    const { line, slots } = this.#options;
    return Math.min(line.of(kind).length, slots.roomFor(kind));
  }

  /** Whether each taker that waits can have a slot and a permit at once, so that no order matters. */
  get #coversAll(): boolean {
    const { leases, slots, line } = this.#options;
    const all = line.all();
    const isCovered = leases.every((lease) => lease.covers(line.of(lease.kind).length));
    const hasRoom = line.of('ordinary').length <= slots.roomFor('ordinary') && all.length <= slots.roomFor('critical');
    return isCovered && hasRoom && !all.some(({ request }) => slots.mayHoldBack(request.queue, all.length - 1));
  }

  /** Asks for the permits that known tickets need. */
  async #askFleet(): Promise<void> {
    const { leases, slots } = this.#options;
    for (const lease of leases) {
      const known = this.#known(lease.kind);
      const first = slots.choose(known);
      if (first !== null && lease.isAnswerDue) continue;
      if (first === null) await this.#report(lease);
      else if (await lease.ask(Math.min(known.length, slots.roomFor(lease.kind)), first.rank)) this.#isDueAgain = true;
    }
  }

  /** Gives slots to known tickets as long as there are slots and permits. */
  #grantBest(): void {
    const { leases, slots, line } = this.#options;
    for (;;) {
      const candidates = leases.flatMap((lease) => (lease.spare > 0 ? this.#known(lease.kind) : []));
      const chosen = slots.choose(candidates);
      this.#isLowHeldBack = chosen === null && candidates.length > 0 && slots.roomFor('ordinary') > 0;
      if (chosen === null) return;
      line.grant(chosen.waiter, this.#takeFor);
    }
  }

  #known(kind: PermitKind): KnownTicket[] {
    return this.#options.line.of(kind).flatMap((waiter) => (waiter.next ? [{ ...waiter.next, waiter }] : []));
  }

  /** A taker of a full worker took the wake-up of its ticket from those with free slots. */
  #wakeOthers(): void {
    const { line, slots } = this.#options;
    for (const waiter of line.all()) {
      if (waiter.isOffered || waiter.next === null || slots.roomFor(kindOf(waiter.request.queue)) > 0) continue;
      waiter.isOffered = true;
      void waiter.request.wakeAnother();
    }
  }

  readonly #takeFor = ({ request, next }: Waiter): Permit => {
    const { slots, leases } = this.#options;
    const lease = leaseFor(leases, request.queue);
    const permit = slots.take(request, lease.take(), next);
    if (lease.isReportDue) this.#isDueAgain = true;
    return permit;
  };
}
