// Written by `npm run openapi` from docs/openapi.json. A task as the API answers it.

/** Where the task is. */
export type TaskStatus =
  | 'pending'
  | 'queued'
  | 'scheduled'
  | 'running'
  | 'completed'
  | 'failed'
  | 'timeout'
  | 'cancelled'
  | 'stale'
  | 'skipped'
  | 'permanently_failed';

export interface Task {
  /** The task's id; sorts by time. */
  id: string;
  /** Whose task it is. */
  tenant: string;
  /** The agent that runs it. */
  agent: string;
  /** Where it came from. */
  source: 'chat' | 'api' | 'proactive' | 'webhook' | 'schedule' | 'delegation';
  /** Where its answer is delivered. */
  channel: string | null;
  /** The conversation in which it is a turn. */
  session: string | null;
  /** Id of the visitor who wrote it. */
  visitor: string | null;
  /** Whether its words give no orders: they came by a webhook, from a visitor, or of such a task. */
  untrusted: boolean;
  status: TaskStatus;
  /** What it waits for, as `why` names it; `queue` for a free slot, null for a task that runs or has ended. */
  gate:
    | 'queue'
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
    | null;
  /** 10 is the most urgent. */
  priority: number;
  /** The queue of its tickets. */
  queue: 'critical' | 'chat' | 'webhooks' | 'schedules' | 'tasks' | 'background' | 'remote';
  /** What the agent is given. */
  input: string;
  /** Given to the model after its agent's own instructions. */
  system: string | null;
  /** Data for the agent. */
  context: Record<string, unknown> | null;
  /** Data of the caller, which Muster does not read. */
  metadata: Record<string, unknown> | null;
  /** The task that delegated it. */
  parentTaskId: string | null;
  /** The first task of the chain of delegations that led to it. */
  rootTaskId: string | null;
  /** Delegations from that one to it; 0 for a task that nothing delegated. */
  depth: number;
  /** The API key by which it came, or the task that it descends from. */
  keyId: string | null;
  /** The caller's own id for work that belongs together. */
  correlationId: string | null;
  /** The schedule that made it. */
  scheduleId: string | null;
  /** Of the trigger, hook or schedule that it came from. */
  sourceId: string | null;
  /** What made it; null for a request. */
  trigger: 'heartbeat' | 'cron' | 'once' | 'run-now' | 'hook' | null;
  /** It fails when it has not ended by then. */
  deadline: string | null;
  /** It should have ended by then, and goes before others of its priority for that. */
  sla: string | null;
  /** Whether that time passed before its end; null without `sla`. */
  slaBreached: boolean | null;
  /** It starts no earlier. */
  scheduledFor: string | null;
  /** When it starts again, while it waits for a retry or for its provider. */
  retryAt: string | null;
  /** What its worker must have. */
  requirements: {
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
  } | null;
  /** Its bounds: attempts, delays and times. */
  execution: {
    /** Longest run of one attempt, in milliseconds. */
    timeoutMs: number;
    /** Attempts allowed, the first one included. */
    maxAttempts: number;
    /** Before the second attempt, in milliseconds. */
    retryDelayMs: number;
    /** How the delay grows. */
    retryBackoff: 'exponential' | 'linear';
    /** Whether a task that runs at its deadline is aborted, and fails for good. */
    deadlineAborts: boolean;
  };
  /** Called when it has ended. */
  callbackUrl: string | null;
  /** Files that it was given. */
  attachments: TaskAttachment[];
  /** The final text. */
  output: string | null;
  /** The final value, when its agent gives one. */
  result: unknown;
  /** How the answer of its model ended; null before, and for an agent that does not say it. */
  finishReason: 'stop' | 'length' | 'content_filter' | 'tool_calls' | 'error' | 'unknown' | null;
  /** Whether the output is less than the model would have said: cut by `length` or `content_filter`. */
  isTruncated: boolean;
  /** Why its last attempt failed. */
  error: TaskError | null;
  /** Number of the current or last attempt; 0 before the first. */
  attempt: number;
  /** What became of it, when that says more than its status. */
  outcome: Outcome | null;
  /** What its attempts used, as far as it is known. */
  usage: Usage | null;
  /** The worker of its current or last attempt. */
  worker: string | null;
  /** The release (`MUSTER_RELEASE`) of that worker. */
  release: string | null;
  /** The critical task that last got its place while it ran. */
  preemptedBy: string | null;
  /** `X-Request-Id` of the request that made it; a run that a schedule made has its own. */
  requestId: string;
  /** W3C trace id, from `traceparent`; the log calls it `trace`. */
  traceId: string;
  /** When it was accepted. */
  createdAt: string;
  /** When it was granted its place and got its ticket. */
  queuedAt: string | null;
  /** When a worker took it. */
  scheduledAt: string | null;
  /** When its current or last attempt began. */
  startedAt: string | null;
  /** When it ended. */
  completedAt: string | null;
}

export interface TaskAttachment {
  /** Unique among those of the task. */
  name: string;
  /** What its sender said that it is. */
  mediaType: string;
  /** Its size; null for one that is fetched from `url`. */
  bytes: number | null;
  /** Its upload, which another task can have too; null for one that is fetched from `url`. */
  uploadId: string | null;
  /** Where it is fetched; null for an upload. */
  url: string | null;
}

export interface TaskError {
  /** What to branch on. */
  code: string;
  /** For people. */
  message: string;
  /** Whether another attempt may succeed. */
  retryable: boolean;
  /** What is known besides. */
  details: Record<string, unknown> | null;
}

export interface Outcome {
  /** What became of it. */
  kind: string;
  /** The task that it became part of. */
  taskId: string | null;
  /** Why. */
  reason: string | null;
}

export interface Usage {
  /** Tokens that were sent, cached ones included. */
  inputTokens: number;
  /** Tokens that were answered, reasoning included. */
  outputTokens: number;
  /** Tokens that were sent and that the provider had cached. */
  cachedInputTokens: number;
  /** Tokens of the model's reasoning. */
  reasoningTokens: number;
  /** Cost in millionths of a dollar; null when a part of it is unknown. */
  costMicroUsd: number | null;
  /** The part of the cost that is known, which budgets count. */
  knownCostMicroUsd: number;
  /** Whether a part of the figures is estimated. */
  isEstimated: boolean;
  /** The same by model, where one is known. */
  byModel: {
    /** The model; null when unknown. */
    model: string | null;
    /** Tokens that were sent, cached ones included. */
    inputTokens: number;
    /** Tokens that were answered, reasoning included. */
    outputTokens: number;
    /** Tokens that were sent and that the provider had cached. */
    cachedInputTokens: number;
    /** Tokens of the model's reasoning. */
    reasoningTokens: number;
    /** Cost in millionths of a dollar; null when a part of it is unknown. */
    costMicroUsd: number | null;
    /** The part of the cost that is known, which budgets count. */
    knownCostMicroUsd: number;
    /** Whether a part of the figures is estimated. */
    isEstimated: boolean;
  }[];
}
