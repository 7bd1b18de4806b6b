import type { Gate } from '../tasks/task.ts';

/** What a task can wait for: a gate of the ledger's, or, once it holds a ticket, its queue. */
export type WaitGate = Gate | 'paused' | 'worker' | 'queue';

export interface WaitReason {
  gate: WaitGate;
  /** In words, with the figures. */
  detail: string;
  /** Since when, and until when where that is known; ms since the epoch. */
  since: number | null;
  until: number | null;
  /** The task that has to go first. */
  taskId: string | null;
}

export interface Waiting {
  reasons: WaitReason[];
  /** How many tasks are before it. */
  ahead: number;
}
