import type { Source } from '../config/index.ts';
import type { Attachment } from '../files/index.ts';
import type { ModelRequest } from './model-request.ts';
import type { TaskRequest } from './task-request.ts';
import type { StoredAttempt, TaskState } from './task-state.ts';

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

export interface ResolvedExecution {
  timeoutMs: number;
  maxAttempts: number;
  retryDelayMs: number;
  retryBackoff: 'linear' | 'exponential';
  /** Whether it is aborted at its deadline; absent for no. */
  deadlineAborts?: true;
  /** How long it may take, ms: until then calls of its model may go by batches. Absent for calls at once. */
  withinMs?: number;
}

/** A place in a chat, as its platform's adapter wrote it down. */
export interface ReplyAddress {
  /** `telegram`, `slack`, ... */
  platform: string;
  /** JSON of the adapter's. */
  thread: string;
}

/** What makes a task without a request for it: a schedule at its time or on demand, a webhook, or a retry of another task from one of its steps. */
export const TRIGGERS = ['heartbeat', 'cron', 'once', 'run-now', 'hook', 'retry'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** What is fixed when a task is accepted, as it is stored. Times are milliseconds since the epoch. */
export interface TaskBody {
  id: string;
  tenant: string;
  agent: string;
  source: Source;
  channel: string | null;
  session: string | null;
  input: string;
  /** Instructions to the model, after its agent's own. */
  system: string | null;
  context: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  parentTaskId: string | null;
  /** The first task of the chain of delegations that led to it; null for one that nothing delegated. */
  rootTaskId: string | null;
  /** Delegations from that one to it. */
  depth: number | null;
  /** Id of the API key that its request came with, or that the task which delegated it has; null for none. */
  keyId: string | null;
  correlationId: string | null;
  scheduleId: string | null;
  /** The trigger or hook that it came from; of a run its schedule, and of a retry from a step the task whose journal it has. */
  sourceId: string | null;
  /** What made it, unless a person's request did. */
  trigger: Trigger | null;
  deadline: number | null;
  sla: number | null;
  scheduledFor: number | null;
  requirements: TaskRequest['requirements'] | null;
  execution: ResolvedExecution;
  callbackUrl: string | null;
  /** Files that it brings; null for none. */
  attachments: Attachment[] | null;
  /** What its request had besides, in OpenAI's protocol; null for a task that came otherwise. */
  request: ModelRequest | null;
  /** Who wrote the message, by the surface's own id; null when unknown. */
  user: string | null;
  /** Whether `user` is only what the caller of the API said: no daemon of that user gets it. Null for who is known. */
  isUserClaimed: true | null;
  /** The visitor who wrote it, by the id of their token, which limits what its turn may do; null for the tenant's own messages. */
  visitor: string | null;
  /** Whether its words are of somebody who may give no orders: a webhook's sender, a visitor, or what made it was of such words. */
  untrusted: boolean;
  /** Where the answer goes in a chat; null for nowhere. */
  reply: ReplyAddress | null;
  /** W3C trace context of the request that made it. */
  traceparent: string;
}

/** Who is known to have written it; null for a name that only the caller of the API said. */
export function knownUser({ user, isUserClaimed }: Pick<TaskBody, 'user' | 'isUserClaimed'>): string | null {
  return isUserClaimed === true ? null : user;
}

/** Whether it is the run of a one-shot, which nothing asks for again. */
export function isOneShot({ scheduleId, trigger }: Pick<TaskBody, 'scheduleId' | 'trigger'>): boolean {
  return scheduleId !== null && trigger === 'once';
}

/** A task as the ledger reads it. */
export interface Task {
  body: TaskBody;
  state: TaskState;
  /** Oldest first. */
  attempts: StoredAttempt[];
  output: string | null;
  result: unknown;
  /** Where its long parts are, of a task that was read without them from the archive: `input` and `output` are their beginnings. */
  archived?: string;
}
