import { GATES, parseTimeline, type StoredAttempt, type TaskBody, type TaskState } from '../../tasks/index.ts';

/** What a task can wait for: a gate of the ledger's, or, once it is granted, its turn, the fleet's cap or its queue. */
export const WAIT_GATES = [...GATES, 'turn', 'fleet', 'paused', 'worker', 'queue'] as const;
export type WaitGate = (typeof WAIT_GATES)[number];

/** What is read of a task to explain its wait: neither its input nor its output. */
export interface WaitingTask {
  body: Pick<TaskBody, 'id' | 'tenant'>;
  state: TaskState;
  attempts: readonly StoredAttempt[];
}

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

/** When a task came to where it waits: its last step, in ms since the epoch. */
export function waitingSince({ log, createdAt }: TaskState): number {
  return parseTimeline(log).at(-1)?.at ?? createdAt;
}
