// Written by `npm run openapi` from docs/openapi.json. What the API takes to make a task, and its first answer.

import type { TaskStatus } from './task.ts';

export interface TaskRequest {
  /** The agent that runs the work. */
  agent: string;
  /** What the agent is given. */
  input: string;
  /** Given to the model after its agent's own instructions. */
  system?: string | undefined;
  /** The conversation in which it is a turn. */
  session?: string | undefined;
  /** From 1 to 10, the most urgent, or its name. */
  priority?: number | 'low' | 'normal' | 'high' | 'critical' | undefined;
  /** What becomes of a message that meets work of its session. */
  mode?: 'queue' | 'interrupt' | 'collect' | 'steer' | 'latest' | 'reject' | undefined;
  /** `api` by default, `delegation` with `parentTaskId`; the others but `proactive` are given by Muster itself. */
  source?: 'chat' | 'api' | 'proactive' | 'webhook' | 'schedule' | 'delegation' | undefined;
  /** Of the trigger, hook or schedule that it came from. */
  sourceId?: string | undefined;
  /** Where the answer is delivered. */
  channel?: string | undefined;
  /** It fails when it has not ended by then. */
  deadline?: string | undefined;
  /** It should have ended by then, and goes before others of its priority for that. */
  sla?: string | undefined;
  /** It starts no earlier. */
  scheduledFor?: string | undefined;
  /** What its worker must have. */
  requirements?:
    | {
        /** What the worker must be able to do. */
        capabilities?: string[] | undefined;
        /** The machine that must run it. */
        targetDaemon?: string | undefined;
        /** Machines that must not run it. */
        excludedDaemons?: string[] | undefined;
        /** About how long it runs, in milliseconds. */
        estimatedDurationMs?: number | undefined;
        /** Megabytes of memory that it needs. */
        memoryMb?: number | undefined;
        /** Whether it computes much. */
        cpuIntensive?: boolean | undefined;
      }
    | undefined;
  /** Its bounds: attempts, delays and times. */
  execution?:
    | {
        /** Longest run of one attempt, in milliseconds. */
        timeoutMs?: number | undefined;
        /** Attempts allowed, the first one included. */
        maxAttempts?: number | undefined;
        /** Before the second attempt, in milliseconds. */
        retryDelayMs?: number | undefined;
        /** How the delay grows. */
        retryBackoff?: 'exponential' | 'linear' | undefined;
        /** Whether a task that runs at its deadline is aborted, and fails for good. */
        deadlineAborts?: boolean | undefined;
      }
    | undefined;
  /** The task that delegated it. */
  parentTaskId?: string | undefined;
  /** The task that it repeats: when that was untrusted, so is this. */
  rerunOf?: string | undefined;
  /** The caller's own id for work that belongs together. */
  correlationId?: string | undefined;
  /** Data for the agent. */
  context?: Record<string, unknown> | undefined;
  /** Data of the caller, which Muster does not read. */
  metadata?: Record<string, unknown> | undefined;
  /** Files that the agent is given. */
  attachments?: Attachment[] | undefined;
  /** Address that is called when the work has ended. */
  callbackUrl?: string | undefined;
}

export interface Attachment {
  /** Of `POST /v1/uploads`. */
  uploadId?: string | undefined;
  /** Fetched before the first attempt; a public address. */
  url?: string | undefined;
  /** Such as `image/png`. */
  mediaType?: string | undefined;
  /** By default that of the upload, or the last part of the address. */
  name?: string | undefined;
}

export interface Accepted {
  /** The task's id. */
  id: string;
  /** Null when an earlier request under the key made the task and its record is no longer kept. */
  status: TaskStatus | null;
  /** How many tasks are before it in its session or backlog. */
  position: number;
  /** In about how many milliseconds it starts; null when unknown. */
  estimatedStartMs: number | null;
  /** How far too much waits; null when not. */
  pressure: {
    /** What kind of signal it is. */
    type: 'backpressure';
    /** How much. */
    level: 'warning' | 'critical';
    /** Who has too much work. */
    scope: 'tenant' | 'fleet';
    /** How many tasks of the tenant have not ended. */
    queueDepth: number;
    /** The same, by the name that proactive engines know. */
    queue_depth: number;
    /** How long its next task waits, about; null when unknown. */
    estimatedWaitMs: number | null;
    /** The same in seconds. */
    estimated_wait_time: number | null;
    /** For proactive tasks under a warning: how many times slower to send. */
    slowDown: number | null;
    /** The same. */
    slow_down: number | null;
    /** What would help. */
    recommendations: string[];
  } | null;
}

/** The accepted task and no problem, or a problem and nulls. */
export interface BulkAnswer {
  /** The status that the single call would answer. */
  httpStatus: number;
  /** The task's id. */
  id: string | null;
  /** Null when an earlier request under the key made the task and its record is no longer kept. */
  status: TaskStatus | null;
  /** How many tasks are before it in its session or backlog. */
  position: number | null;
  /** In about how many milliseconds it starts; null when unknown. */
  estimatedStartMs: number | null;
  /** How far too much waits; null when not. */
  pressure: {
    /** What kind of signal it is. */
    type: 'backpressure';
    /** How much. */
    level: 'warning' | 'critical';
    /** Who has too much work. */
    scope: 'tenant' | 'fleet';
    /** How many tasks of the tenant have not ended. */
    queueDepth: number;
    /** The same, by the name that proactive engines know. */
    queue_depth: number;
    /** How long its next task waits, about; null when unknown. */
    estimatedWaitMs: number | null;
    /** The same in seconds. */
    estimated_wait_time: number | null;
    /** For proactive tasks under a warning: how many times slower to send. */
    slowDown: number | null;
    /** The same. */
    slow_down: number | null;
    /** What would help. */
    recommendations: string[];
  } | null;
  /** Why it was refused, as the single call answers it. */
  problem: Record<string, unknown> | null;
}

export interface Upload {
  /** For `attachments` of a task or message. */
  id: string;
  /** Cleaned: no path, no control characters. */
  name: string;
  /** From `Content-Type`. */
  mediaType: string;
  /** Its size. */
  bytes: number;
  /** Until then a task can have it. */
  expiresAt: string;
}

/** An error, as of RFC 9457. */
export interface Problem {
  /** Names the kind of problem. */
  type: string;
  /** The kind of problem, for people. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What went wrong, for people. */
  detail: string;
  /** What to branch on. */
  code: string;
  /** Path of the request. */
  instance?: string | undefined;
  /** What is known besides. */
  details?: Record<string, unknown> | undefined;
}
