// Written by `npm run openapi` from docs/openapi.json. Lists of tasks, and what is read of one besides its record.

import type { TaskStatus } from './task.ts';

export interface Artifact {
  /** Unique among those of the task. */
  name: string;
  /** What its maker said that it is. */
  mediaType: string;
  /** Its size. */
  bytes: number;
  /** The attempt that made it. */
  attempt: number;
  /** When it was stored. */
  createdAt: string;
}

export interface Why {
  status: TaskStatus;
  /** What it waits for now; none when it does not wait. */
  reasons: {
    /** What it waits at. */
    gate:
      | 'lane'
      | 'steer'
      | 'cap'
      | 'time'
      | 'debounce'
      | 'retry'
      | 'suspect'
      | 'budget'
      | 'provider'
      | 'circuit'
      | 'failures'
      | 'agent'
      | 'repeats'
      | 'daemon'
      | 'paused'
      | 'worker'
      | 'commands'
      | 'turn'
      | 'fleet'
      | 'queue'
      | 'outbox'
      | 'rate'
      | 'clock'
      | 'deadline';
    /** For people. */
    detail: string;
    /** Since when; null when unknown. */
    since: string | null;
    /** Until when, if that is known. */
    until: string | null;
    /** The task that it waits for. */
    taskId: string | null;
  }[];
  /** Every gate on the path to its start, in order; none when it does not wait. */
  gates: {
    /** The gate. */
    gate:
      | 'lane'
      | 'steer'
      | 'cap'
      | 'time'
      | 'debounce'
      | 'retry'
      | 'suspect'
      | 'budget'
      | 'provider'
      | 'circuit'
      | 'failures'
      | 'agent'
      | 'repeats'
      | 'daemon'
      | 'paused'
      | 'worker'
      | 'commands'
      | 'turn'
      | 'fleet'
      | 'queue'
      | 'outbox'
      | 'rate'
      | 'clock'
      | 'deadline';
    /** `closed` while the task waits at it. */
    state: 'open' | 'closed';
    /** For people. */
    detail: string;
    /** Its figures by name; which ones depends on the gate. */
    facts: Record<string, number | string | null>;
    /** What would help, for people; null at an open gate. */
    helps: string | null;
    /** Since when it is closed; null when unknown. */
    since: string | null;
    /** Until when, if that is known. */
    until: string | null;
    /** The task that has to go first. */
    taskId: string | null;
  }[];
  /** In about how many milliseconds it starts; null when unknown. */
  estimatedStartMs: number | null;
}

export interface TaskCancelled {
  /** The task's id. */
  id: string;
  status: TaskStatus;
  /** It runs; its worker was notified to stop it. */
  stopping: boolean;
  /** Tasks it delegated that were stopped with it. */
  subTasks: number;
}

export interface ListTasksQuery {
  /** One or several of pending, queued, scheduled, running, completed, failed, timeout, cancelled, stale, skipped, permanently_failed; several are separated by commas, or repeated. */
  status?: string | string[] | undefined;
  /** Whether skipped occurrences are among them; by default only when `status` names them. */
  skipped?: string | undefined;
  /** Run by this agent. */
  agent?: string | undefined;
  /** From this source. */
  source?: 'chat' | 'api' | 'proactive' | 'webhook' | 'schedule' | 'delegation' | undefined;
  /** Of this session. */
  session?: string | undefined;
  /** Made by this schedule. */
  schedule?: string | undefined;
  /** With this correlation id. */
  correlation?: string | undefined;
  /** Delegated by this task. */
  parent?: string | undefined;
  /** Made by this trigger, hook or schedule. */
  sourceId?: string | undefined;
  /** Whose last attempt failed with this code. */
  code?: string | undefined;
  /** Accepted at or after. */
  since?: string | undefined;
  /** Accepted before. */
  until?: string | undefined;
  /** Text in the input, output, id, session or error. */
  q?: string | undefined;
  /** Whose last attempt this worker ran. */
  worker?: string | undefined;
  /** Whose last attempt a worker of this release ran. */
  release?: string | undefined;
  /** A field of its metadata, `key:value`; `key:` for any value. Several, which all have to be there, are repeated. */
  metadata?: string | string[] | undefined;
  /** The largest first, among the newest `limits.maxPreviewed` tasks, on one page; by default the newest first. */
  sort?: 'cost' | 'duration' | undefined;
  /** `csv`: the items as a table with a heading, without cursors (RFC 4180). */
  format?: 'json' | 'csv' | undefined;
  /** Items of a page, at most. */
  limit?: number | undefined;
}
