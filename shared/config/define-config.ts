import type { Readable } from 'node:stream';
import type { AgentSchema } from '../text/index.ts';
import type { AgentLoopOptions, AgentTurn } from './define-agent.ts';
import type { SettingsInput } from './settings/settings.ts';

export { TaskFailure } from '../errors/index.ts';
export {
  type AgentLoopOptions,
  type AgentMessage,
  type AgentTurn,
  type DefinedAgent,
  defineAgent,
  defineTool,
  type Tool,
  type ToolContext,
  type ToolOptions,
} from './define-agent.ts';

/** Types `muster.config.ts`; validation happens when a process starts. */
export function defineConfig(settings: SettingsInput): SettingsInput {
  return settings;
}

/** What a `function` agent reads of its task. */
export interface AgentTask {
  readonly id: string;
  readonly tenant: string;
  readonly agent: string;
  /** The prompt. */
  readonly input: string;
  /** What the task's sender gives the model besides, after the agent's own instructions; null for nothing. */
  readonly system: string | null;
  readonly session: string | null;
  readonly source: string;
  /** The visitor of the session who wrote it, by the id of their token; null for what the tenant itself asks. */
  readonly visitor: string | null;
  readonly context: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly correlationId: string | null;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
}

/** Structured log of one attempt; task, attempt, tenant and trace ids are in each line already. */
export interface AgentLog {
  debug(fields: object | string, message?: string): void;
  info(fields: object | string, message?: string): void;
  warn(fields: object | string, message?: string): void;
  error(fields: object | string, message?: string): void;
}

/** A message that went into a running task. */
export interface AgentInput {
  /** The message's own task. */
  readonly id: string;
  readonly text: string;
  /** Who sent it; null when unknown. */
  readonly user: string | null;
  /** The files that it brings. */
  readonly attachments: readonly AgentAttachment[];
}

/** A file that the task was given. */
export interface AgentAttachment {
  /** Unique among those of the task; safe as the name of a file. */
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** The file; more than memory should hold is better read by `stream`. */
  readonly read: () => Promise<Buffer>;
  readonly stream: () => Promise<Readable>;
  /** An address that opens the file without a key, until some time after the attempt. */
  readonly url: () => Promise<string>;
}

/**
 * A language model of version 7 of the AI SDK, for `generateText`, `streamText` and the like. What it is called with and answers is the SDK's own,
 * whose types are not repeated here, so that a project without the SDK compiles.
 */
export interface AgentModel {
  readonly specificationVersion: 'v4';
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: PromiseLike<Record<string, RegExp[]>> | Record<string, RegExp[]>;
  // oxlint-disable-next-line typescript/no-explicit-any -- `unknown` could not be handed to the SDK
  doGenerate(options: unknown): PromiseLike<any>;
  // oxlint-disable-next-line typescript/no-explicit-any
  doStream(options: unknown): PromiseLike<any>;
}

/** An event that a run waited for. */
export interface AgentEvent {
  readonly name: string;
  /** JSON. */
  readonly data: unknown;
  readonly id: string;
}

export interface WaitForOptions {
  /** Top-level fields that the event's data has to have, each with an equal JSON value. By default any event of the name will do. */
  match?: Readonly<Record<string, unknown>>;
  /** Milliseconds, or text as `30s` or `3 days`. By default it waits for good. */
  timeoutMs?: number | string;
}

export interface AgentContext {
  /** The task that is run, with its input as text. */
  readonly task: AgentTask;
  /** Aborts when the task is cancelled, times out, or the worker may no longer hold it. Stop then. */
  readonly signal: AbortSignal;
  /** Appends to the output; readers of the stream see it within a moment. */
  readonly write: (text: string) => void;
  /** Says that work goes on, and how far it is, 0 to 100 per cent; the task shows the latest. */
  readonly progress: (note?: string, percent?: number) => void;
  /**
   * Adds what was used since the last report, as of one model call. It counts also when the attempt fails, is stopped, or is lost with its
   * process. Where the answer has a `usage`, that is the total and stands for all reports.
   */
  readonly reportUsage: (usage: AgentUsage) => void;
  /**
   * Takes the messages that arrived for this run since the last call, oldest first; none is common. What is never taken becomes
   * the session's next turn; what was taken, a later attempt finds in its `task.input`. Waits while Redis is away. Rejects when the
   * attempt may act no more. Free to call often: it reads Redis only when notified of input.
   */
  readonly input: () => Promise<readonly AgentInput[]>;
  /** The files of the task and of the messages that are part of its prompt. */
  readonly attachments: readonly AgentAttachment[];
  /**
   * Adds a file to the task's artifacts; one of the same name is replaced. Rejects with a `TaskFailure` of OUTPUT_TOO_LARGE for more than
   * `files` of the configuration allows.
   */
  readonly attach: (name: string, data: string | Uint8Array | AsyncIterable<Uint8Array>, mediaType?: string) => Promise<void>;
  /** The session's earlier turns, oldest first, bounded by `sessions`; empty without a session. */
  readonly history: () => Promise<readonly AgentTurn[]>;
  /**
   * Does a piece of work once in a run: what it gives, as JSON, is kept before the next step begins, and a later attempt gets it without doing
   * the work again. Steps have to begin in the same order in each attempt, and one names itself: else the task ends with JOURNAL_MISMATCH. A step
   * that failed is done again by the next attempt, unless the run went on to another one. Text that the work writes is kept with it.
   */
  readonly step: <T>(name: string, work: StepWork<T>, options?: StepOptions) => Promise<T>;
  /** A key for a call outward that is the same in each attempt, and another in each step and for each `key`: 43 letters, digits, `-` and `_`. */
  readonly once: (key: string) => string;
  /**
   * Waits for a duration (ms, or text as `30s` or `3 days`) or until a time. From 5 s on the run waits without a slot: this promise never settles in
   * this attempt, whose signal aborts with the reason `suspended` once steps under way have ended, and another attempt goes on behind it at that time.
   */
  readonly sleep: (time: number | string | Date) => Promise<void>;
  /**
   * Waits without a slot for an event of this name (`POST /v1/events`, hooks with `event`) whose data has the fields of `match`, each with an equal
   * value. Gives null when none came within `timeoutMs`. A run gets an event once; the oldest that is kept goes first.
   */
  readonly waitFor: (name: string, options?: WaitForOptions) => Promise<AgentEvent | null>;
  /**
   * Puts a question to people, and gives the answer: one of its `choices`, what fits its `schema`, or else a text. Without an answer in time it gives
   * `default`, or null. The run waits without a slot, as it sleeps. A later attempt gets the same answer and asks nobody again; one that asks
   * something else there ends with JOURNAL_MISMATCH.
   */
  readonly ask: Ask;
  /**
   * Has another agent do a task, and waits for its end without a slot, as `sleep` does. `input` is a text, or JSON for an agent whose input has a
   * schema. Gives what became of it, also of one that failed or was refused. Several are begun by `delegateAll`: a run waits for one thing at a time.
   */
  readonly delegate: <Result = unknown>(agent: string, input: unknown, options?: DelegateOptions) => Promise<Delegated<Result>>;
  /** Begins several sub-tasks, `[agent, input, options]` each, and goes on once all have ended. Gives what became of each, in order. */
  readonly delegateAll: (calls: readonly DelegateCall[]) => Promise<Delegated[]>;
  /** Has a model work with tools until it has answered, as an `openai` agent does: each call of either is a step. Gives its last answer. */
  readonly agent: (options: AgentLoopOptions) => Promise<AgentResult>;
  /** A random number from 0 to below 1. A run with steps has the one that it had here first. */
  readonly random: () => number;
  /** Lines from `info` up are kept on the task too, up to `tasks.maxLogEntries`. */
  readonly log: AgentLog;
  /**
   * A model behind `OPENAI_BASE_URL` for the AI SDK; by default `OPENAI_MODEL`. Its calls are counted as the task's usage, also when the
   * attempt fails. A call fails with a `TaskFailure`, as an `openai` agent does; the SDK does not retry it. Where the task has `within`, calls outside of
   * steps may wait for a batch of the provider, without a slot, and the function begins again then.
   */
  readonly model: (name?: string) => AgentModel;
  /** Milliseconds since the epoch, by the clock that all workers share. A run with steps has the time that it had here first. */
  readonly now: () => number;
  /** W3C trace context, to hand on to what the agent calls. */
  readonly trace: { readonly traceparent: string };
}

/** A question to people. */
export interface Question<Answer = unknown> {
  /** What they read, at most 4,000 characters. */
  readonly question: string;
  /** What they choose from: 1 to 25 texts of at most 100 characters. */
  readonly choices?: readonly (Answer & string)[];
  /** What the answer has to fit: a schema of zod or the like, or JSON Schema. */
  readonly schema?: AgentSchema<unknown, Answer> | Readonly<Record<string, unknown>>;
  /**
   * Who may answer, beside the scope `answer`: the e-mail address of a person, the name or id of a key, `<platform>:<id>` of somebody in a chat, or
   * `visitors` of the task's session, who never answer otherwise. By default everyone who may answer, but no visitor.
   */
  readonly to?: string | readonly string[];
  /** With `others` whoever sent the task may not answer. */
  readonly by?: 'anyone' | 'others';
  /** How long it is open: ms, or text as `2 hours`. By default, and at most, `questions.maxWaitMs` of the configuration. */
  readonly timeoutMs?: number | string;
  /** What `ask` gives when nobody answers in time. */
  readonly default?: NoInfer<Answer>;
}

export interface Ask {
  <const Answer = string>(question: Question<Answer> & { readonly default: NoInfer<Answer> }): Promise<Answer>;
  <const Answer = string>(question: Question<Answer>): Promise<Answer | null>;
}

/** What a sub-task has besides its input; the rest it has of its parent. */
export interface DelegateOptions {
  /** 1 to 10, 10 first, or a name; by default one lower than its parent's. */
  readonly priority?: number | 'low' | 'normal' | 'high' | 'critical';
  /** How long one attempt of it may take: ms, or text as `30s` or `5 minutes`. */
  readonly timeoutMs?: number | string;
  /** Until when it has to end; not later than its parent. */
  readonly deadline?: Date | string;
  /** How long it may take, ms or text as `24h`: until then calls of its model may go by batches. By default as its agent says. */
  readonly within?: number | string;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Given to the model after its agent's own instructions. */
  readonly system?: string;
  /** The session in which it is a turn; by default none. Waiting runs above it of the same session let it go first. */
  readonly session?: string;
}

export type DelegateCall = readonly [agent: string, input: unknown, options?: DelegateOptions];

/** What became of a sub-task. */
export interface Delegated<Result = unknown> {
  /** How its task ended; `refused` for one that was not accepted. */
  readonly status: 'completed' | 'cancelled' | 'stale' | 'skipped' | 'permanently_failed' | 'refused';
  /** Its final text; null unless it completed. */
  readonly output: string | null;
  /** JSON, where its agent gives some; null unless it completed. */
  readonly result: Result | null;
  /** Why it did not complete; null when it did. */
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The work of a step. Its signal aborts with that of the attempt, and after the step's time. */
export type StepWork<T> = (step: { readonly signal: AbortSignal }) => T | Promise<T>;

export interface StepOptions {
  /** Further tries after a failure, within the attempt, each later than the one before; by default none. */
  readonly retries?: number;
  /** How long one try may take: ms, or text as `30s` or `5 minutes`. A longer one fails with STEP_TIMEOUT. */
  readonly timeoutMs?: number | string;
}

export interface AgentUsage {
  /** All input tokens, cached ones included. */
  inputTokens: number;
  /** All output tokens, reasoning included. */
  outputTokens: number;
  /** Input tokens that the provider had cached. */
  cachedInputTokens?: number;
  /** Output tokens of the model's reasoning. */
  reasoningTokens?: number;
  /** Cost in millionths of a US dollar. Without it `models` of the configuration has the price of `model`; else it is unknown. */
  costMicroUsd?: number;
  /** The model that it was used of. */
  model?: string;
  /** Whether the figures are estimates. */
  isEstimated?: boolean;
}

/**
 * How the answer of a model ended: by itself, cut at a bound of tokens (`length`), cut by a filter of its provider, with calls of tools, by an
 * error, or with a word that Muster does not know.
 */
export const FINISH_REASONS = ['stop', 'length', 'content_filter', 'tool_calls', 'error', 'unknown'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

/** Whether an answer that ended so is less than the model would have said. */
export function isTruncated(reason: FinishReason): boolean {
  return reason === 'length' || reason === 'content_filter';
}

/** What an attempt answers; what was written counts as the output when `output` is absent. */
export interface AgentResult {
  /** The final text. */
  output?: string;
  /** Anything JSON. */
  result?: unknown;
  /** All that the attempt used. */
  usage?: AgentUsage;
  /** How its model's answer ended: `length` and `content_filter` mark the output as truncated. */
  finishReason?: FinishReason;
}

/**
 * A `function` agent. A string answer is the output; throw `TaskFailure` to choose the failure's code. An error that it lets go unheard (a
 * promise that it does not await) fails its attempt too. It shares the worker's thread: while it computes without an `await`, no lease is
 * renewed. After `worker.leaseMs` other workers take over everything that runs there. Long computations belong in a `command` agent.
 */
export type AgentFunction = (task: AgentTask, context: AgentContext) => Promise<AgentResult | string | undefined | void>;
