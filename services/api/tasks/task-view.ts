import { z } from 'zod';
import { FINISH_REASONS, SOURCES, TASK_QUEUES } from '#shared/config/index.ts';
import { GATES } from '#shared/errors/index.ts';
import { executionSchema, requirementsSchema, TASK_STATUSES, TRIGGERS } from '#shared/tasks/index.ts';
import { usageViewSchema } from '../money/usage-view.ts';
import { pressureSchema } from './pressure-view.ts';

const TASK_ID_EXAMPLE = '01KQS1C8ZV0G3P5T7W9X1Y2Z3A';

export const instant = (description: string): z.ZodISODateTime => z.iso.datetime().meta({ description });
export const jsonSchema = z.record(z.string(), z.unknown());

export const errorSchema = z
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

const attachmentViewSchema = z
  .strictObject({
    name: z.string().meta({ description: 'Unique among those of the task.' }),
    mediaType: z.string().meta({ description: 'What its sender said that it is.' }),
    bytes: z.int().nullable().meta({ description: 'Its size; null for one that is fetched from `url`.' }),
    uploadId: z
      .string()
      .nullable()
      .meta({ description: 'Its upload, which another task can have too; null for one that is fetched from `url`.' }),
    url: z.string().nullable().meta({ description: 'Where it is fetched; null for an upload.' }),
  })
  .meta({ id: 'TaskAttachment' });

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
    untrusted: z
      .boolean()
      .meta({ description: 'Whether its words give no orders: they came by a webhook, from a visitor, or of such a task.' }),
    status: taskStatusSchema,
    gate: z
      .enum(['queue', ...GATES])
      .nullable()
      .meta({ description: 'What it waits for, as `why` names it; `queue` for a free slot, null for a task that runs or has ended.' }),
    priority: z.int().min(1).max(10).meta({ description: '10 is the most urgent.' }),
    queue: z.enum(TASK_QUEUES).meta({ description: 'The queue of its tickets.' }),
    input: z.string().meta({ description: 'What the agent is given: a text, or JSON as text for an agent whose input has a schema.' }),
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
    execution: executionSchema
      .required()
      .extend({
        withinMs: z.number().nullable().meta({ description: 'Until then calls of its model may go by batches; null for calls at once.' }),
      })
      .meta({ description: 'Its bounds: attempts, delays and times.' }),
    callbackUrl: z.string().nullable().meta({ description: 'Called when it has ended.' }),
    attachments: z.array(attachmentViewSchema).meta({ description: 'Files that it was given.' }),
    output: z.string().nullable().meta({ description: 'The final text.' }),
    result: z.unknown().meta({ description: 'The final value, when its agent gives one.' }),
    archived: z.literal(true).optional().meta({
      description:
        'In lists: its `input` and `output` are cut to their beginnings, and `system`, `context` and long `metadata` and `result` are null, because the archive has them. Reading the task gives all.',
    }),
    finishReason: z
      .enum(FINISH_REASONS)
      .nullable()
      .meta({ description: 'How the answer of its model ended; null before, and for an agent that does not say it.' }),
    isTruncated: z
      .boolean()
      .meta({ description: 'Whether the output is less than the model would have said: cut by `length` or `content_filter`.' }),
    error: errorSchema.nullable().meta({ description: 'Why its last attempt failed.' }),
    attempt: z.int().meta({ description: 'Number of the current or last attempt; 0 before the first.' }),
    outcome: outcomeSchema.nullable().meta({ description: 'What became of it, when that says more than its status.' }),
    usage: usageViewSchema.nullable().meta({ description: 'What its attempts used, as far as it is known.' }),
    worker: z.string().nullable().meta({ description: 'The worker of its current or last attempt.' }),
    release: z.string().nullable().meta({ description: 'The release (`MUSTER_RELEASE`) of that worker.' }),
    interruptions: z.int().meta({
      description: 'How often in a row workers that shut down interrupted it, and nothing was kept that the next attempt goes on from.',
    }),
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
    pressure: pressureSchema.nullable().meta({ description: 'How far too much waits; null when not.' }),
  })
  .meta({ id: 'Accepted', examples: [{ id: TASK_ID_EXAMPLE, status: 'queued', position: 0, estimatedStartMs: 150, pressure: null }] });
