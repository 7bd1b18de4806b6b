import { z } from 'zod';
import { QUEUE_MODES, SOURCES } from '#shared/config/index.ts';
import type { SessionRecord, SessionSummary } from '#shared/sessions/index.ts';
import { toIso } from '#shared/time/index.ts';
import { taskStatusSchema } from '../tasks/task-view.ts';
import { workspacesSchema } from './session-workspaces.ts';

const holderSchema = z.strictObject({
  taskId: z.string(),
  startedAt: z.iso.datetime().nullable().meta({ description: 'Null while it does not run: before its start, and between attempts.' }),
  worker: z.string().nullable(),
});

const currentSchema = holderSchema.extend({
  status: z.string(),
  reason: z.string().nullable().meta({ description: 'Why it does not run yet.' }),
});

const waitingSchema = z.array(z.strictObject({ taskId: z.string(), position: z.int(), reason: z.string() }));

const modeSchema = {
  mode: z.enum(QUEUE_MODES),
  modeSource: z.enum(['message', 'session', 'surface', 'global']).meta({ description: 'Where the mode comes from.' }),
};

const lastTaskSchema = z
  .strictObject({
    id: z.string(),
    agent: z.string(),
    source: z.enum(SOURCES).meta({ description: 'Where it came from.' }),
    status: taskStatusSchema,
    text: z.string().meta({ description: 'The beginning of its input.' }),
    user: z.string().nullable().meta({ description: "Who wrote it, by the surface's own id." }),
    userName: z.string().nullable().meta({ description: 'The name that they have there; null when unknown.' }),
    createdAt: z.iso.datetime(),
  })
  .nullable()
  .meta({ description: 'Its newest task; null for an unused session.' });

const originSchema = z.string().meta({
  description: 'Where its newest task came from: a surface of chat such as `telegram` or `webchat`, else the source of the task.',
});

/** A session in a list. */
export const sessionSummarySchema = z
  .strictObject({
    id: z.string(),
    ...modeSchema,
    surface: z.string(),
    origin: originSchema,
    lastTask: lastTaskSchema,
    holder: holderSchema.nullable(),
    waiting: waitingSchema.meta({ description: 'The next ten, in order.' }),
    waitingTotal: z.int(),
  })
  .meta({ id: 'SessionSummary' });

/** A session as callers see it. */
export const sessionViewSchema = z
  .strictObject({
    id: z.string(),
    ...modeSchema,
    surface: z.string().meta({ description: 'The surface of chat whose mode applies: of its last message.' }),
    holder: currentSchema.nullable().meta({ description: 'The task whose turn it is.' }),
    waiting: waitingSchema.meta({ description: 'The next hundred, in order; `position` counts the tasks before each.' }),
    waitingTotal: z.int(),
    runs: z
      .array(currentSchema)
      .meta({ description: 'Runs of schedules that report into it and have not ended. They go on beside its tasks.' }),
    transcriptLength: z.int().meta({ description: 'Turns that an agent is given as history.' }),
    workspaces: workspacesSchema,
  })
  .meta({ id: 'Session' });

export function viewSummary({ holder, waiting, lastTask, ...rest }: SessionSummary): z.infer<typeof sessionSummarySchema> {
  const last = lastTask && { ...lastTask, createdAt: new Date(lastTask.createdAt).toISOString() };
  return { ...rest, lastTask: last, holder: holder && { ...holder, startedAt: toIso(holder.startedAt) }, waiting: viewWaiting(waiting) };
}

function viewWaiting(waiting: SessionSummary['waiting']): z.infer<typeof waitingSchema> {
  return waiting.map(({ taskId, position, reason }) => ({ taskId, position, reason }));
}

export function viewSession(
  record: SessionRecord,
  transcriptLength: number,
  workspaces: z.infer<typeof workspacesSchema>,
): z.infer<typeof sessionViewSchema> {
  const { id, mode, modeSource, surface, holder, waiting, waitingTotal, runs } = record;
  return {
    id,
    mode,
    modeSource,
    surface,
    holder: holder && viewHolder(holder),
    waiting: viewWaiting(waiting),
    waitingTotal,
    runs: runs.map((run) => viewHolder(run)),
    transcriptLength,
    workspaces,
  };
}

function viewHolder({ taskId, startedAt, worker, status, reason }: SessionRecord['runs'][number]): z.infer<typeof currentSchema> {
  return { taskId, startedAt: toIso(startedAt), worker, status, reason };
}
