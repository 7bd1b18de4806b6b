import { WaitingError } from 'bullmq';
import type { TaskQueue } from '../../config/index.ts';
import type { DispatchLimit } from '../../ledger/index.ts';
import type { WaitingTicket } from './choose-next.ts';

/** A ticket that is ready, taken for a free slot. */
export interface ReadyTicket {
  ticket: WaitingTicket;
  /** Runs it to its end. Returns the lease that its attempt had, when its settlement is still under way. Never rejects. */
  run(): Promise<string | undefined>;
}

/** Where a slot without a next ticket in BullMQ takes one that is ready in the ledger. */
export interface ReadySource {
  /** Whether the ledger chooses among all queues of the worker, of which each is taken from so. */
  readonly isPooled: boolean;
  /**
   * The next one; the queue of a ticket that goes first and is in BullMQ, null when there is none. `ended`: the lease that the slot's last
   * attempt had; `queue`: that of the slot's last ticket. Never rejects.
   */
  take(queue: TaskQueue | undefined, ended?: string): Promise<ReadyTicket | TaskQueue | null>;
  /** The lease that the attempt of a job from BullMQ had, when its settlement may still be under way. */
  endedOf(job: object): string | undefined;
  /** How many tickets are ready in the shard, at least. Never rejects. */
  count(): Promise<number>;
  /** Slots wait for BullMQ, which has nothing for them. */
  dispatch(idle: DispatchLimit): void;
}

/** The ticket is back in BullMQ, because a better one is ready: its slot takes that. */
export class OvertakenError extends WaitingError {}
