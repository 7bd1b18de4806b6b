// Written by `npm run openapi` from docs/openapi.json. Conversations.

import type { Attachment } from './requests.ts';

import type { Outcome, TaskStatus } from './task.ts';

export interface MessageRequest {
  /** What the person wrote; commands like `/stop` are applied. */
  text: string;
  /** By default chosen by `routing`. */
  agent?: string | undefined;
  /** Where it was written, `webchat` by default; chooses the mode. */
  surface?: string | undefined;
  /** Mode of this message when it meets a running task. */
  mode?: 'queue' | 'interrupt' | 'collect' | 'steer' | 'latest' | 'reject' | 'default' | undefined;
  /** Who wrote it. */
  user?: string | undefined;
  /** Orders the messages of the session; by default they are ordered by arrival. */
  sequence?: number | undefined;
  /** Data for the agent. */
  context?: Record<string, unknown> | undefined;
  /** Files that the agent is given. */
  attachments?: Attachment[] | undefined;
}

export interface AcceptedMessage {
  /** Names the record. */
  id: string;
  /** Null when an earlier request under the key made the task and its record is no longer kept. */
  status: TaskStatus | null;
  /** How many tasks are before it in the session. */
  position: number;
  /** What became of it, when that is final already. */
  outcome: Outcome | null;
}

/** The message was a command; `text` is its answer for the person. */
export interface CommandAnswer {
  /** The command that was given. */
  command: string;
  /** The text. */
  text: string;
}

export interface Session {
  /** Names the record. */
  id: string;
  /** What becomes of a message that meets work of its session. */
  mode: 'queue' | 'interrupt' | 'collect' | 'steer' | 'latest' | 'reject';
  /** Where the mode comes from. */
  modeSource: 'message' | 'session' | 'surface' | 'global';
  /** The surface of chat whose mode applies: of its last message. */
  surface: string;
  /** The task whose turn it is. */
  holder: {
    /** The task. */
    taskId: string;
    /** Null while it does not run: before its start, and between attempts. */
    startedAt: string | null;
    /** The worker that holds it. */
    worker: string | null;
    /** Where it is. */
    status: string;
    /** Why it does not run yet. */
    reason: string | null;
  } | null;
  /** The next hundred, in order; `position` counts the tasks before each. */
  waiting: {
    /** The task. */
    taskId: string;
    /** How many are before it. */
    position: number;
    /** Why. */
    reason: string;
  }[];
  /** How many wait. */
  waitingTotal: number;
  /** Runs of schedules that report into it and have not ended. They go on beside its tasks. */
  runs: {
    /** The task. */
    taskId: string;
    /** Null while it does not run: before its start, and between attempts. */
    startedAt: string | null;
    /** The worker that holds it. */
    worker: string | null;
    /** Where it is. */
    status: string;
    /** Why it does not run yet. */
    reason: string | null;
  }[];
  /** Turns that an agent is given as history. */
  transcriptLength: number;
}

export interface SessionSummary {
  /** Names the record. */
  id: string;
  /** What becomes of a message that meets work of its session. */
  mode: 'queue' | 'interrupt' | 'collect' | 'steer' | 'latest' | 'reject';
  /** Where the mode comes from. */
  modeSource: 'message' | 'session' | 'surface' | 'global';
  /** Where people write from. */
  surface: string;
  /** Where its newest task came from: a surface of chat such as `telegram` or `webchat`, else the source of the task. */
  origin: string;
  /** Its newest task; null for an unused session. */
  lastTask: {
    /** Names the record. */
    id: string;
    /** The agent that runs the work. */
    agent: string;
    /** Where it came from. */
    source: 'chat' | 'api' | 'proactive' | 'webhook' | 'schedule' | 'delegation';
    status: TaskStatus;
    /** The beginning of its input. */
    text: string;
    /** Who wrote it, by the surface's own id. */
    user: string | null;
    /** The name that they have there; null when unknown. */
    userName: string | null;
    /** When it was made. */
    createdAt: string;
  } | null;
  /** The task whose turn it is. */
  holder: {
    /** The task. */
    taskId: string;
    /** Null while it does not run: before its start, and between attempts. */
    startedAt: string | null;
    /** The worker that holds it. */
    worker: string | null;
  } | null;
  /** The next ten, in order. */
  waiting: {
    /** The task. */
    taskId: string;
    /** How many are before it. */
    position: number;
    /** Why. */
    reason: string;
  }[];
  /** How many wait. */
  waitingTotal: number;
}

export interface StopSessionAnswer {
  /** Tasks that had not started. */
  withdrawn: number;
  /** Running tasks whose worker was notified to stop them. */
  stopped: number;
}

export interface Turn {
  /** The task. */
  taskId: string;
  /** What the agent is given. */
  input: string;
  /** The final text. */
  output: string;
  /** When it ended. */
  completedAt: string | null;
}

export interface ListSessionsQuery {
  /** Only those in which something runs or waits. */
  active?: string | undefined;
  /** Only those whose id, or the `user` of whose newest task, holds this text, in any case. */
  q?: string | undefined;
  /** Only those with this `origin`, such as `telegram`, `webchat` or `api`. */
  origin?: string | undefined;
  /** `activity`: the session with the newest task first. */
  sort?: 'id' | 'activity' | undefined;
  /** Items of a page, at most. */
  limit?: number | undefined;
}
