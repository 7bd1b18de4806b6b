import { WaitingError } from 'bullmq';
import type { WaitingTicket } from './choose-next.ts';

/** A ticket that is ready, taken for a free slot. */
export interface ReadyTicket {
  ticket: WaitingTicket;
  /** Runs it to its end. Returns the lease that its attempt had, when its settlement is still under way. Never rejects. */
  run(): Promise<string | undefined>;
}

/** Where a slot without a next ticket in BullMQ takes one that is ready in the ledger. */
export interface ReadySource {
  /**
   * The next one; `outranked` when one that goes first is in BullMQ, null when there is none. `ended`: the lease that the slot's last attempt
   * had. Never rejects.
   */
  take(ended?: string): Promise<ReadyTicket | 'outranked' | null>;
  /** So many slots wait for BullMQ, which has nothing for them. */
  fill(idle: number): void;
}

/** The ticket is back in BullMQ, because a better one is ready: its slot takes that. */
export class OvertakenError extends WaitingError {}
