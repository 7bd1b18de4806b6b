import { z } from 'zod';
import { SOURCES, TASK_QUEUES } from '#shared/config/index.ts';
import { executionSchema, requirementsSchema, TASK_STATUSES, TRIGGERS } from '#shared/tasks/index.ts';

const instant = z.iso.datetime();
const json = z.record(z.string(), z.unknown());
const errorSchema = z.object({ code: z.string(), message: z.string(), retryable: z.boolean(), details: json.nullable() });

/** The one thing that became of a task. */
export const outcomeSchema = z
  .object({ kind: z.string(), taskId: z.string().nullable(), reason: z.string().nullable() })
  .meta({ id: 'Outcome' });

export const taskStatusSchema = z.enum(TASK_STATUSES).meta({ id: 'TaskStatus' });

export const requestIdSchema = z
  .string()
  .meta({ description: '`X-Request-Id` of the answer to the request that made it; what a schedule made at its time has one of its own.' });
export const traceIdSchema = z.string().meta({ description: 'The W3C trace in which it runs: of `traceparent`, in the log `trace`.' });

/** A task as callers see it; absent means null. */
export const taskViewSchema = z
  .strictObject({
    id: z.string(),
    tenant: z.string(),
    agent: z.string(),
    source: z.enum(SOURCES),
    channel: z.string().nullable(),
    session: z.string().nullable(),
    visitor: z.string().nullable().meta({ description: "Who of the session's visitors wrote it, by the id of their token." }),
    status: taskStatusSchema,
    priority: z.int().min(1).max(10),
    queue: z.enum(TASK_QUEUES),
    input: z.string(),
    system: z.string().nullable().meta({ description: "Told to the model after its agent's own instructions." }),
    context: json.nullable(),
    metadata: json.nullable(),
    parentTaskId: z.string().nullable(),
    correlationId: z.string().nullable(),
    scheduleId: z.string().nullable(),
    sourceId: z.string().nullable().meta({ description: 'Of the trigger, hook or schedule that it came from.' }),
    trigger: z.enum(TRIGGERS).nullable().meta({ description: 'What made it, when that was no request for it.' }),
    deadline: instant.nullable(),
    sla: instant.nullable(),
    scheduledFor: instant.nullable(),
    retryAt: instant.nullable().meta({ description: 'When it starts again, while it waits for a retry or for its provider.' }),
    requirements: requirementsSchema.nullable(),
    execution: executionSchema.required(),
    callbackUrl: z.string().nullable(),
    output: z.string().nullable().meta({ description: 'The final text.' }),
    result: z.unknown(),
    error: errorSchema.nullable(),
    attempt: z.int().meta({ description: 'Number of the current or last attempt; 0 before the first.' }),
    outcome: outcomeSchema.nullable(),
    usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costMicroUsd: z.number() }).nullable(),
    worker: z.string().nullable(),
    requestId: requestIdSchema,
    traceId: traceIdSchema,
    createdAt: instant,
    queuedAt: instant.nullable(),
    scheduledAt: instant.nullable(),
    startedAt: instant.nullable(),
    completedAt: instant.nullable(),
  })
  .meta({ id: 'Task' });

/** An attempt as callers see it. */
export const attemptViewSchema = z
  .strictObject({
    number: z.int(),
    worker: z.string(),
    daemon: z.string().nullable(),
    startedAt: instant,
    endedAt: instant.nullable(),
    status: z.enum(['running', 'success', 'failed', 'timeout', 'cancelled', 'interrupted']),
    error: errorSchema.nullable(),
  })
  .meta({ id: 'Attempt' });

export const keptStatusSchema = taskStatusSchema
  .nullable()
  .meta({ description: 'Null for a task that an earlier request under the key made, and whose record is no longer kept.' });

/** What accepting a task answers. */
export const acceptedViewSchema = z
  .strictObject({
    id: z.string(),
    status: keptStatusSchema,
    position: z.int().meta({ description: 'How many tasks are before it in its session or backlog.' }),
    estimatedStartMs: z.number().nullable(),
    pressure: z.object({ level: z.enum(['warning', 'critical']), queueDepth: z.int(), recommendations: z.array(z.string()) }).nullable(),
  })
  .meta({ id: 'Accepted' });
