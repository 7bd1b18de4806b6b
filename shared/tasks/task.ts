import type { Source, TaskQueue } from '../config/settings.ts';
import type { TaskRequest } from './task-request.ts';
import type { TaskStatus } from './transitions.ts';

export interface TaskError {
  code: string;
  message: string;
  retryable: boolean;
  /** JSON of the agent's choice; null for none. */
  details: unknown;
}

export type OutcomeKind = 'ran' | 'steered' | 'merged' | 'superseded' | 'rejected' | 'dropped' | 'cancelled' | 'expired' | 'skipped';

export interface TaskOutcome {
  kind: OutcomeKind;
  /** The task it went into, or that took its place. */
  taskId: string | null;
  reason: string | null;
}

export interface TaskUsage {
  inputTokens: number;
  outputTokens: number;
  costMicroUsd: number;
}

export interface ResolvedExecution {
  timeoutMs: number;
  maxAttempts: number;
  retryDelayMs: number;
  retryBackoff: 'linear' | 'exponential';
}

/** What is fixed when a task is accepted, as it is stored. Times are milliseconds since the epoch. */
export interface TaskBody {
  id: string;
  tenant: string;
  agent: string;
  source: Source;
  channel: string | null;
  session: string | null;
  input: string;
  context: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  parentTaskId: string | null;
  correlationId: string | null;
  scheduleId: string | null;
  deadline: number | null;
  sla: number | null;
  scheduledFor: number | null;
  requirements: TaskRequest['requirements'] | null;
  execution: ResolvedExecution;
  callbackUrl: string | null;
  /** W3C trace context of the request that made it. */
  traceparent: string;
}

export interface StoredAttempt {
  number: number;
  worker: string;
  daemon?: string;
  startedAt: number;
  endedAt?: number;
  status: 'running' | 'success' | 'failed' | 'timeout' | 'cancelled' | 'interrupted';
  error?: StoredError;
}

/** As the scripts keep it: `details` is JSON text, because Lua would turn its empty arrays into objects. */
export interface StoredError {
  code: string;
  message: string;
  retryable: boolean;
  details?: string;
}

/** What a gate is that a parked task waits at. */
export type Gate = 'lane' | 'cap' | 'time' | 'retry' | 'provider' | 'fleet';

/** What changes, as the ledger's scripts keep it. Times are milliseconds since the epoch. */
export interface TaskState {
  status: TaskStatus;
  agent: string;
  source: Source;
  queue: TaskQueue;
  priority: number;
  /** For caps: the letter of its source class, and 0 for low priority, else 1. */
  class: string;
  lane?: string;
  laneLimit?: number;
  /** Its place in the lane, as text, because the scripts would write a long number short; by default when it was accepted. */
  order?: string;
  deadline?: number;
  notBefore?: number;
  gate?: Gate;
  granted?: boolean;
  maxAttempts: number;
  timeoutMs: number;
  /** Fencing token of the current or last attempt. */
  token: number;
  /** Attempts that count. */
  spent: number;
  attempt: number;
  /** Number of its newest ticket. */
  ticket: number;
  worker?: string;
  createdAt: number;
  queuedAt?: number;
  scheduledAt?: number;
  startedAt?: number;
  completedAt?: number;
  cancel?: { at: number; reason: string };
  error?: StoredError;
  usage?: TaskUsage;
  outcome?: { kind: OutcomeKind; taskId?: string; reason?: string };
  /** Every status it had: `<status>@<ms>[ <note>]`, separated by semicolons. See `parseTimeline`. */
  log: string;
}

/** A task as the ledger reads it. */
export interface Task {
  body: TaskBody;
  state: TaskState;
  /** Oldest first. */
  attempts: StoredAttempt[];
  output: string | null;
  result: unknown;
}
