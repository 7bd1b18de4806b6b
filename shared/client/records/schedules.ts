// Written by `npm run openapi` from docs/openapi.json. Schedules, and the runs that they made.

/** Only active schedules fire. */
export type ScheduleStatus = 'active' | 'paused' | 'completed' | 'failed' | 'canceled';

export interface Schedule {
  /** Its id. */
  id: string;
  /** Short, and the tenant's own: `/schedule pause 3`. */
  number: number;
  /** For people. */
  name: string | null;
  /** An interval, wall times, or one time. */
  kind: 'heartbeat' | 'cron' | 'once';
  /** The normalised rule, which reads as the same rule again. */
  rule: string;
  /** The rule in English, with wall times of `tz`. */
  sentence: string;
  /** IANA zone of its wall times. */
  tz: string;
  /** The agent that runs. */
  agent: string;
  /** What the agent is given as input. */
  message: string;
  /** Data for the agent. */
  context: Record<string, unknown> | null;
  status: ScheduleStatus;
  /** Why it is paused, or has failed. */
  pausedReason: string | null;
  /** Of its runs, from 1 to 10; 10 goes first. */
  priority: number;
  /** The chat that its results are sent to. */
  channel: string | null;
  /** The platform of that chat. */
  platform: string | null;
  /** Its results are posted here. */
  callbackUrl: string | null;
  /** Policy for missed occurrences: `skip`, `once`, `all` or `all(20)`. */
  missed: string;
  /** No run starts later than this after its occurrence. */
  maxLateness: string | number | null;
  /** Policy for an occurrence while the previous run has not ended. */
  overlap: 'skip' | 'queue' | 'cancel-other' | 'allow';
  /** Each occurrence is delayed by a share of this. */
  jitter: string | number | null;
  /** Never spread over the full hour. */
  exact: boolean;
  /** The last time that counts. */
  until: string | null;
  /** It ends after so many runs. */
  maxRuns: number | null;
  /** The next occurrence. */
  nextFireAt: string | null;
  /** The next three. */
  next: string[];
  /** When it made its last run. */
  lastRunAt: string | null;
  /** The task of its last run. */
  lastRunId: string | null;
  /** Runs so far, without skipped ones. */
  runCount: number;
  /** Who wrote the `/schedule` line that made it; null for a schedule of a person, of the API or of the configuration. */
  madeBy: {
    /** The agent that wrote the line. */
    agent: string;
    /** The hook of its task. */
    hook: string | null;
    /** Whether the words of its task could give no orders; those of its runs cannot either. */
    untrusted: boolean;
  } | null;
  /** When it was created. */
  createdAt: string;
  /** When it was last changed. */
  updatedAt: string;
}

export interface ScheduleRequest {
  /** `every monday at 09:00`, `in 30 minutes`, or what the other three take. */
  phrase?: string | undefined;
  /** Five fields, or six with seconds first. */
  cron?: string | undefined;
  /** A duration: `5m`, `1.5h`, `1d`. */
  every?: string | undefined;
  /** ISO 8601; without an offset it is a wall time in `tz`. */
  at?: string | undefined;
  /** The agent that runs. */
  agent: string;
  /** What the agent is given as input. */
  message: string;
  /** What the agent is given besides. */
  context?: Record<string, unknown> | null | undefined;
  /** For people. */
  name?: string | null | undefined;
  /** IANA zone; by default the host's. */
  tz?: string | undefined;
  /** Of its runs. */
  priority?: number | 'low' | 'normal' | 'high' | 'critical' | null | undefined;
  /** With `platform`: the chat that results are sent to. */
  channel?: string | null | undefined;
  /** With `channel`: the chat that results are sent to; for `webchat` it is a session. */
  platform?: 'telegram' | 'slack' | 'discord' | 'whatsapp' | 'webchat' | null | undefined;
  /** Results are posted here. */
  callbackUrl?: string | null | undefined;
  /** `skip`, `once`, `all`, or `all(20)` for the newest 20. */
  missed?: string | undefined;
  /** A duration like `90s` or `1.5h`, or milliseconds as a number. */
  maxLateness?: string | number | null | undefined;
  /** What becomes of an occurrence while the run before has not ended. */
  overlap?: 'skip' | 'queue' | 'cancel-other' | 'allow' | undefined;
  /** A duration like `90s` or `1.5h`, or milliseconds as a number. */
  jitter?: string | number | null | undefined;
  /** Never spread over the full hour, whatever the configuration says. */
  exact?: boolean | undefined;
  /** The last time that counts. */
  until?: string | null | undefined;
  /** It ends after so many runs. */
  maxRuns?: number | null | undefined;
  /** The same key with the same request gives the same schedule. */
  idempotencyKey?: string | undefined;
}

export interface SchedulePatch {
  /** `every monday at 09:00`, `in 30 minutes`, or what the other three take. */
  phrase?: string | undefined;
  /** Five fields, or six with seconds first. */
  cron?: string | undefined;
  /** A duration: `5m`, `1.5h`, `1d`. */
  every?: string | undefined;
  /** ISO 8601; without an offset it is a wall time in `tz`. */
  at?: string | undefined;
  /** The agent that runs. */
  agent?: string | undefined;
  /** What the agent is given as input. */
  message?: string | undefined;
  /** What the agent is given besides. */
  context?: Record<string, unknown> | null | undefined;
  /** For people. */
  name?: string | null | undefined;
  /** IANA zone; by default the host's. */
  tz?: string | undefined;
  /** Of its runs. */
  priority?: number | 'low' | 'normal' | 'high' | 'critical' | null | undefined;
  /** With `platform`: the chat that results are sent to. */
  channel?: string | null | undefined;
  /** With `channel`: the chat that results are sent to; for `webchat` it is a session. */
  platform?: 'telegram' | 'slack' | 'discord' | 'whatsapp' | 'webchat' | null | undefined;
  /** Results are posted here. */
  callbackUrl?: string | null | undefined;
  /** `skip`, `once`, `all`, or `all(20)` for the newest 20. */
  missed?: string | undefined;
  /** A duration like `90s` or `1.5h`, or milliseconds as a number. */
  maxLateness?: string | number | null | undefined;
  /** What becomes of an occurrence while the run before has not ended. */
  overlap?: 'skip' | 'queue' | 'cancel-other' | 'allow' | undefined;
  /** A duration like `90s` or `1.5h`, or milliseconds as a number. */
  jitter?: string | number | null | undefined;
  /** Never spread over the full hour, whatever the configuration says. */
  exact?: boolean | undefined;
  /** The last time that counts. */
  until?: string | null | undefined;
  /** It ends after so many runs. */
  maxRuns?: number | null | undefined;
  /** Pauses or resumes it. */
  status?: 'active' | 'paused' | undefined;
}

export interface SchedulePreviewRequest {
  /** `every monday at 09:00`, `in 30 minutes`, or what the other three take. */
  phrase?: string | undefined;
  /** Five fields, or six with seconds first. */
  cron?: string | undefined;
  /** A duration: `5m`, `1.5h`, `1d`. */
  every?: string | undefined;
  /** ISO 8601; without an offset it is a wall time in `tz`. */
  at?: string | undefined;
  /** IANA zone; by default the host's. */
  tz?: string | undefined;
  /** From when on; by default now. */
  from?: string | undefined;
  /** How many times. */
  count?: number | undefined;
}

export interface SchedulePreview {
  /** An interval, wall times, or one time. */
  kind: 'heartbeat' | 'cron' | 'once';
  /** The normalised rule, which reads as the same rule again. */
  rule: string;
  /** The rule in English, with wall times of `tz`. */
  sentence: string;
  /** IANA zone of the wall times. */
  tz: string;
  /** Its next times, as many as `count` asks for. */
  next: string[];
}

export interface Run {
  /** Of its task. */
  id: string;
  /** Its schedule. */
  scheduleId: string;
  /** When it was due. */
  occurrence: string | null;
  /** A run that waits for a retry is pending. */
  status: 'pending' | 'running' | 'succeeded' | 'failed' | 'skipped';
  /** Why it failed, was skipped or waits for a retry. */
  reason: string | null;
  /** The agent that runs. */
  agent: string;
  /** The kind of rule, or `run-now` for a run by request. */
  trigger: 'heartbeat' | 'cron' | 'once' | 'run-now' | 'hook' | null;
  /** When its first attempt started. */
  startedAt: string | null;
  /** When it ended. */
  completedAt: string | null;
  /** Tokens that the model read. */
  inputTokens: number | null;
  /** Tokens that the model wrote. */
  outputTokens: number | null;
  /** What it cost, in millionths of a US dollar; null when unknown. */
  costMicroUsd: number | null;
  /** The beginning of its output. */
  resultSummary: string | null;
  /** Its last error. */
  error: {
    /** Of the list of error codes. */
    code: string;
    /** For people. */
    message: string;
  } | null;
  /** `X-Request-Id` of the request that made it; a run that a schedule made has its own. */
  requestId: string;
  /** W3C trace id, from `traceparent`; the log calls it `trace`. */
  traceId: string;
}

export interface ListSchedulesQuery {
  /** Only schedules with this status. */
  status?: ScheduleStatus | undefined;
  /** Only schedules of this agent. */
  agent?: string | undefined;
  /** Text in the number (`#12`), id, name, message, rule or agent. */
  q?: string | undefined;
  /** Items of a page, at most. */
  limit?: number | undefined;
}

export interface ListScheduleRunsQuery {
  /** Made at or after: ISO 8601, or seconds or milliseconds since 1970. */
  since?: string | undefined;
  /** Items of a page, at most. */
  limit?: number | undefined;
}
