import { z } from 'zod';
import { SOURCES, TASK_QUEUES } from '#shared/config/index.ts';
import { LOG_LEVELS, type ProgressEntry, type StoredLogEntry } from '#shared/ledger/index.ts';
import { executionSchema, requirementsSchema, TASK_STATUSES, TRIGGERS } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { usageViewSchema } from '../money/usage-view.ts';

const TASK_ID_EXAMPLE = '01KQS1C8ZV0G3P5T7W9X1Y2Z3A';

const instant = (description: string): z.ZodISODateTime => z.iso.datetime().meta({ description });
const jsonSchema = z.record(z.string(), z.unknown());

const errorSchema = z
  .object({
    code: z.string().meta({ description: 'What to branch on.' }),
    message: z.string().meta({ description: 'For people.' }),
    retryable: z.boolean().meta({ description: 'Whether another attempt may succeed.' }),
    details: jsonSchema.nullable().meta({ description: 'What is known besides.' }),
  })
  .meta({ id: 'TaskError' });

/** The outcome of a task. */
export const outcomeSchema = z
  .object({
    kind: z.string().meta({ description: 'What became of it.' }),
    taskId: z.string().nullable().meta({ description: 'The task that it became part of.' }),
    reason: z.string().nullable().meta({ description: 'Why.' }),
  })
  .meta({ id: 'Outcome' });

export const taskStatusSchema = z.enum(TASK_STATUSES).meta({ id: 'TaskStatus', description: 'Where the task is.' });

export const requestIdSchema = z
  .string()
  .meta({ description: '`X-Request-Id` of the request that made it; a run that a schedule made has its own.' });
export const traceIdSchema = z.string().meta({ description: 'W3C trace id, from `traceparent`; the log calls it `trace`.' });

/** A task as callers see it; absent means null. */
export const taskViewSchema = z
  .strictObject({
    id: z.string().meta({ description: "The task's id; sorts by time." }),
    tenant: z.string().meta({ description: 'Whose task it is.' }),
    agent: z.string().meta({ description: 'The agent that runs it.' }),
    source: z.enum(SOURCES).meta({ description: 'Where it came from.' }),
    channel: z.string().nullable().meta({ description: 'Where its answer is delivered.' }),
    session: z.string().nullable().meta({ description: 'The conversation in which it is a turn.' }),
    visitor: z.string().nullable().meta({ description: 'Id of the visitor who wrote it.' }),
    status: taskStatusSchema,
    priority: z.int().min(1).max(10).meta({ description: '10 is the most urgent.' }),
    queue: z.enum(TASK_QUEUES).meta({ description: 'The queue of its tickets.' }),
    input: z.string().meta({ description: 'What the agent is given.' }),
    system: z.string().nullable().meta({ description: "Given to the model after its agent's own instructions." }),
    context: jsonSchema.nullable().meta({ description: 'Data for the agent.' }),
    metadata: jsonSchema.nullable().meta({ description: 'Data of the caller, which Muster does not read.' }),
    parentTaskId: z.string().nullable().meta({ description: 'The task that delegated it.' }),
    rootTaskId: z.string().nullable().meta({ description: 'The first task of the chain of delegations that led to it.' }),
    depth: z.int().meta({ description: 'Delegations from that one to it; 0 for a task that nothing delegated.' }),
    keyId: z.string().nullable().meta({ description: 'The API key by which it came, or the task that it descends from.' }),
    correlationId: z.string().nullable().meta({ description: "The caller's own id for work that belongs together." }),
    scheduleId: z.string().nullable().meta({ description: 'The schedule that made it.' }),
    sourceId: z.string().nullable().meta({ description: 'Of the trigger, hook or schedule that it came from.' }),
    trigger: z.enum(TRIGGERS).nullable().meta({ description: 'What made it; null for a request.' }),
    deadline: instant('It fails when it has not ended by then.').nullable(),
    sla: instant('It should have ended by then, and goes before others of its priority for that.').nullable(),
    slaBreached: z.boolean().nullable().meta({ description: 'Whether that time passed before its end; null without `sla`.' }),
    scheduledFor: instant('It starts no earlier.').nullable(),
    retryAt: instant('When it starts again, while it waits for a retry or for its provider.').nullable(),
    requirements: requirementsSchema.nullable().meta({ description: 'What its worker must have.' }),
    execution: executionSchema.required().meta({ description: 'Its bounds: attempts, delays and times.' }),
    callbackUrl: z.string().nullable().meta({ description: 'Called when it has ended.' }),
    output: z.string().nullable().meta({ description: 'The final text.' }),
    result: z.unknown().meta({ description: 'The final value, when its agent gives one.' }),
    error: errorSchema.nullable().meta({ description: 'Why its last attempt failed.' }),
    attempt: z.int().meta({ description: 'Number of the current or last attempt; 0 before the first.' }),
    outcome: outcomeSchema.nullable().meta({ description: 'What became of it, when that says more than its status.' }),
    usage: usageViewSchema.nullable().meta({ description: 'What its attempts used, as far as it is known.' }),
    worker: z.string().nullable().meta({ description: 'The worker of its current or last attempt.' }),
    preemptedBy: z.string().nullable().meta({ description: 'The critical task that last got its place while it ran.' }),
    requestId: requestIdSchema,
    traceId: traceIdSchema,
    createdAt: instant('When it was accepted.'),
    queuedAt: instant('When it was granted its place and got its ticket.').nullable(),
    scheduledAt: instant('When a worker took it.').nullable(),
    startedAt: instant('When its current or last attempt began.').nullable(),
    completedAt: instant('When it ended.').nullable(),
  })
  .meta({ id: 'Task' });

/** Progress that a task reported. */
const progressViewSchema = z
  .strictObject({
    at: instant('When.'),
    attempt: z.int().meta({ description: 'In which attempt.' }),
    note: z.string().nullable().meta({ description: 'In words.' }),
    percent: z.number().nullable().meta({ description: 'From 0 to 100.' }),
  })
  .meta({ id: 'Progress', examples: [{ at: '2026-05-01T09:00:02.000Z', attempt: 1, note: 'reading', percent: 40 }] });

export const taskWithProgressSchema = taskViewSchema
  .extend({ progress: progressViewSchema.nullable().meta({ description: 'The progress that it reported last.' }) })
  .meta({ id: 'TaskWithProgress' });

/** An attempt as callers see it. */
export const attemptViewSchema = z
  .strictObject({
    number: z.int().meta({ description: 'From 1.' }),
    worker: z.string().meta({ description: 'The worker that ran it.' }),
    daemon: z.string().nullable().meta({ description: 'The machine of that worker.' }),
    startedAt: instant('When it began.'),
    endedAt: instant('When it ended; null while it runs.').nullable(),
    status: z.enum(['running', 'success', 'failed', 'timeout', 'cancelled', 'interrupted']).meta({ description: 'How it ended.' }),
    error: errorSchema.nullable().meta({ description: 'Why it failed.' }),
    usage: usageViewSchema.nullable().meta({ description: 'What it used, as far as it is known.' }),
    model: z.string().nullable().meta({ description: 'The model that answered instead of the one that was asked for; null for none.' }),
    notes: z.array(z.string()).meta({ description: 'Why another model was called, in words; empty while it runs.' }),
  })
  .meta({
    id: 'Attempt',
    examples: [
      {
        number: 1,
        worker: 'worker-1',
        daemon: null,
        startedAt: '2026-05-01T09:00:01.000Z',
        endedAt: '2026-05-01T09:00:04.000Z',
        status: 'success',
        error: null,
        usage: null,
        model: null,
        notes: [],
      },
    ],
  });

export const keptStatusSchema = taskStatusSchema
  .nullable()
  .meta({ description: 'Null when an earlier request under the key made the task and its record is no longer kept.' });

/** The answer to an accepted task. */
export const acceptedViewSchema = z
  .strictObject({
    id: z.string().meta({ description: "The task's id." }),
    status: keptStatusSchema,
    position: z.int().meta({ description: 'How many tasks are before it in its session or backlog.' }),
    estimatedStartMs: z.number().nullable().meta({ description: 'In about how many milliseconds it starts; null when unknown.' }),
    pressure: z
      .object({
        type: z.literal('backpressure').meta({ description: 'What kind of signal it is.' }),
        level: z.enum(['warning', 'critical']).meta({ description: 'How much.' }),
        scope: z.enum(['tenant', 'fleet']).meta({ description: 'Who has too much work.' }),
        queueDepth: z.int().meta({ description: 'How many tasks of the tenant have not ended.' }),
        queue_depth: z.int().meta({ description: 'The same, by the name that proactive engines know.' }),
        estimatedWaitMs: z.number().nullable().meta({ description: 'How long its next task waits, about; null when unknown.' }),
        estimated_wait_time: z.int().nullable().meta({ description: 'The same in seconds.' }),
        slowDown: z.number().nullable().meta({ description: 'For proactive tasks under a warning: how many times slower to send.' }),
        slow_down: z.number().nullable().meta({ description: 'The same.' }),
        recommendations: z.array(z.string()).meta({ description: 'What would help.' }),
      })
      .nullable()
      .meta({ description: 'How far too much waits; null when not.' }),
  })
  .meta({ id: 'Accepted', examples: [{ id: TASK_ID_EXAMPLE, status: 'queued', position: 0, estimatedStartMs: 150, pressure: null }] });

/** An entry of a task's log as callers see it; what its kind does not have is null. */
export const logEntryViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Sorts by time.' }),
    at: instant('When.'),
    attempt: z.int().meta({ description: 'In which attempt.' }),
    kind: z.enum(['log', 'progress']).meta({ description: 'What it is.' }),
    level: z.enum(LOG_LEVELS).nullable().meta({ description: 'Of `log`: how important.' }),
    text: z.string().nullable().meta({ description: 'The text, or the note of a progress.' }),
    fields: jsonSchema.nullable().meta({ description: 'Of `log`: data beside the text.' }),
    percent: z.number().nullable().meta({ description: 'Of `progress`: from 0 to 100.' }),
  })
  .meta({
    id: 'LogEntry',
    examples: [
      {
        id: '1777626002000-0',
        at: '2026-05-01T09:00:02.000Z',
        attempt: 1,
        kind: 'log',
        level: 'info',
        text: 'read 12 files',
        fields: { files: 12 },
        percent: null,
      },
    ],
  });

export function viewProgress({ at, attempt, note, percent }: ProgressEntry & { at: number }): Record<string, unknown> {
  return { at: toIso(at), attempt, note, percent };
}

export function viewLogEntry({ id, at, entry }: StoredLogEntry): Record<string, unknown> {
  const { attempt, kind } = entry;
  const time = toIso(at);
  if (kind === 'progress') return { id, at: time, attempt, kind, level: null, text: entry.note, fields: null, percent: entry.percent };
  const fields: unknown = entry.fields === null ? null : JSON.parse(entry.fields);
  return { id, at: time, attempt, kind, level: entry.level, text: entry.text, fields, percent: null };
}
