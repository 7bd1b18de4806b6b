import { z } from 'zod';
import { QUEUE_MODES } from '#shared/config/sources.ts';
import { TASK_STATUSES } from '#shared/tasks/transitions.ts';

// The records of the API, with the fields that the pages read. The API may add further fields at any time.

export const outcomeSchema = z.object({ kind: z.string(), taskId: z.string().nullish(), reason: z.string().nullish() });
export type Outcome = z.infer<typeof outcomeSchema>;

export const taskStatusSchema = z.enum(TASK_STATUSES);

const modeFields = { mode: z.enum(QUEUE_MODES), modeSource: z.string() };

export const sessionSummarySchema = z.object({
  id: z.string(),
  ...modeFields,
  surface: z.string(),
  /** Where the newest task came from; absent in answers of one session. */
  origin: z.string().nullish(),
  lastTask: z
    .object({
      id: z.string(),
      agent: z.string(),
      status: taskStatusSchema,
      text: z.string(),
      user: z.string().nullish(),
      userName: z.string().nullish(),
      createdAt: z.string(),
    })
    .nullish(),
  holder: z.object({ taskId: z.string(), startedAt: z.string().nullish() }).nullable(),
  waitingTotal: z.number(),
});
export type SessionSummary = z.infer<typeof sessionSummarySchema>;

export const sessionSchema = sessionSummarySchema.extend({
  holder: z.object({ taskId: z.string(), startedAt: z.string().nullish(), reason: z.string().nullable() }).nullable(),
  waiting: z.array(z.object({ taskId: z.string(), position: z.number(), reason: z.string() })),
});
export type Session = z.infer<typeof sessionSchema>;

/** The schema of a list of the API. */
export const listOf = <Item extends z.ZodType>(item: Item): z.ZodObject<{ items: z.ZodArray<Item> }> => z.object({ items: z.array(item) });

/** Names a task; `tenant` is null for the person's own tenant. */
export interface TaskRef {
  readonly id: string;
  readonly tenant: string | null;
}

export const scheduleSchema = z.object({
  id: z.string(),
  number: z.number(),
  name: z.string().nullish(),
  kind: z.string(),
  rule: z.string(),
  sentence: z.string(),
  tz: z.string(),
  agent: z.string(),
  message: z.string(),
  status: z.string(),
  pausedReason: z.string().nullish(),
  priority: z.number(),
  /** The chat that receives the results, and its platform. */
  channel: z.string().nullish(),
  platform: z.string().nullish(),
  missed: z.string(),
  overlap: z.string(),
  nextFireAt: z.string().nullish(),
  next: z.array(z.string()),
  lastRunAt: z.string().nullish(),
  lastRunId: z.string().nullish(),
  runCount: z.number(),
  /** Who wrote the `/schedule` line that made it; a server of an older release does not say. */
  madeBy: z.object({ agent: z.string(), hook: z.string().nullable(), untrusted: z.boolean() }).nullish(),
});
export type Schedule = z.infer<typeof scheduleSchema>;

export const runSchema = z.object({
  id: z.string(),
  /** Null for a run that a person started. */
  occurrence: z.string().nullish(),
  status: z.enum(['pending', 'running', 'succeeded', 'failed', 'skipped']),
  reason: z.string().nullish(),
  startedAt: z.string().nullish(),
  completedAt: z.string().nullish(),
  inputTokens: z.number().nullish(),
  outputTokens: z.number().nullish(),
  costMicroUsd: z.number().nullish(),
  resultSummary: z.string().nullish(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});
export type Run = z.infer<typeof runSchema>;

export const previewSchema = z.object({
  kind: z.string(),
  rule: z.string(),
  sentence: z.string(),
  tz: z.string(),
  next: z.array(z.string()),
});
export type Preview = z.infer<typeof previewSchema>;

export interface NewSchedule {
  phrase: string;
  message: string;
  agent: string;
  tz: string;
  priority: number;
  overlap: string;
  missed: string;
  name?: string;
  /** The chat that receives the results, and its platform. */
  platform?: string;
  channel?: string;
  /** Repeated under the same key the request makes one schedule. */
  idempotencyKey?: string;
}

/** The fields to change; null removes a field. */
export type ScheduleChanges = { [Field in Exclude<keyof NewSchedule, 'idempotencyKey'>]?: NewSchedule[Field] | null };

/** An error that the API answered. */
export class ApiProblem extends Error {
  readonly code: string;
  readonly status: number;
  /** Further facts; their shape depends on the code. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(problem: { code: string; status: number; detail: string; details?: Record<string, unknown> | undefined }) {
    super(problem.detail);
    this.name = 'ApiProblem';
    this.code = problem.code;
    this.status = problem.status;
    this.details = problem.details ?? {};
  }
}

const problemsSchema = z.object({ problems: z.array(z.object({ path: z.string(), message: z.string() })) });
/** The form of a single problem: `missed: expected ...`. */
const MEMBER_PROBLEM = /^(\w+): (.+)$/s;

/** What is wrong with the members of a refused body; empty for another error. */
export function bodyProblems({ code, message, details }: ApiProblem): [member: string, text: string][] {
  if (code !== 'request.invalid') return [];
  const listed = problemsSchema.safeParse(details);
  if (listed.success) return listed.data.problems.map((problem) => [problem.path.replace('body.', ''), problem.message]);
  const [, member, text] = MEMBER_PROBLEM.exec(message) ?? [];
  return member === undefined || text === undefined ? [] : [[member, text]];
}

/** A sentence for a person about anything that was thrown. */
export function problemText(thrown: unknown): string {
  if (thrown instanceof ApiProblem) return thrown.message;
  // Browsers word the failure of `fetch` differently, and none of them helps a person.
  if (thrown instanceof TypeError || (thrown instanceof DOMException && thrown.name === 'TimeoutError'))
    return 'Muster does not answer. The network may be gone, or it is being restarted.';
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export type TaskAction = 'retry' | 'cancel' | 'discard';
/** Which tasks an action selects: named ones, or those of a filter with the fields of `GET /v1/tasks`. */
export type TaskActionTarget = { readonly ids: readonly string[] } | { readonly filter: Readonly<Record<string, unknown>> };
