import type { WaitGate } from '../../errors/index.ts';
import { parseTimeline, type StoredAttempt, type TaskBody, type TaskState } from '../../tasks/index.ts';

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

/** Figures of a gate by name. */
export type GateFacts = Readonly<Record<string, number | string | null>>;

/** A gate on a task's path to its start, and what is known of it. */
export interface GateReport extends WaitReason {
  state: 'open' | 'closed';
  facts: GateFacts;
  /** What would help, for people; null at an open gate. */
  helps: string | null;
}

/** When a task came to where it waits: its last change of status, in ms since the epoch. Entries after that say what happened to it there. */
export function waitingSince({ log, createdAt }: TaskState): number {
  const steps = parseTimeline(log);
  const last = steps.at(-1)?.status;
  const before = steps.findLastIndex(({ status }) => status !== last);
  return steps[before + 1]?.at ?? createdAt;
}

/** Since when a task with a grant waits for a slot. */
export function sinceGrant({ state }: WaitingTask): number {
  return state.queuedAt ?? state.createdAt;
}

/** A gate that the task does not wait at. */
export function openGate(gate: WaitGate, detail: string, facts: GateFacts = {}): GateReport {
  return { gate, state: 'open', detail, facts, helps: null, since: null, until: null, taskId: null };
}

interface ClosedGate extends Pick<WaitReason, 'detail'>, Partial<Pick<WaitReason, 'since' | 'until' | 'taskId'>> {
  helps: string;
  facts?: GateFacts;
}

/** A gate that the task waits at. */
export function closedGate(
  gate: WaitGate,
  { detail, helps, facts = {}, since = null, until = null, taskId = null }: ClosedGate,
): GateReport {
  return { gate, state: 'closed', detail, facts, helps, since, until, taskId };
}
