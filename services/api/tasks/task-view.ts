import { z } from 'zod';
import { SOURCES, TASK_QUEUES } from '#shared/config/settings.ts';
import { executionSchema, requirementsSchema } from '#shared/tasks/task-request.ts';
import { TASK_STATUSES } from '#shared/tasks/transitions.ts';

const instant = z.iso.datetime();
const json = z.record(z.string(), z.unknown());
const errorSchema = z.object({ code: z.string(), message: z.string(), retryable: z.boolean(), details: json.nullable() });

/** The one thing that became of a task. */
export const outcomeSchema = z
  .object({ kind: z.string(), taskId: z.string().nullable(), reason: z.string().nullable() })
  .meta({ id: 'Outcome' });

export const taskStatusSchema = z.enum(TASK_STATUSES).meta({ id: 'TaskStatus' });

/** A task as callers see it; absent means null. */
export const taskViewSchema = z
  .strictObject({
    id: z.string(),
    tenant: z.string(),
    agent: z.string(),
    source: z.enum(SOURCES),
    channel: z.string().nullable(),
    session: z.string().nullable(),
    status: taskStatusSchema,
    priority: z.int().min(1).max(10),
    queue: z.enum(TASK_QUEUES),
    input: z.string(),
    context: json.nullable(),
    metadata: json.nullable(),
    parentTaskId: z.string().nullable(),
    correlationId: z.string().nullable(),
    scheduleId: z.string().nullable(),
    deadline: instant.nullable(),
    sla: instant.nullable(),
    scheduledFor: instant.nullable(),
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

/** What accepting a task answers. */
export const acceptedViewSchema = z
  .strictObject({
    id: z.string(),
    status: taskStatusSchema,
    position: z.int().meta({ description: 'How many tasks are before it in its session or backlog.' }),
    estimatedStartMs: z.number().nullable(),
    pressure: z.object({ level: z.enum(['warning', 'critical']), queueDepth: z.int(), recommendations: z.array(z.string()) }).nullable(),
  })
  .meta({ id: 'Accepted' });
