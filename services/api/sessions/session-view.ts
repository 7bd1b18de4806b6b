import { z } from 'zod';
import { sessionIdSchema } from '#shared/tasks/index.ts';
import { QUEUE_MODES } from '#shared/config/index.ts';
import { type SessionRecord, type SessionSummary, readSession, countTurns } from '#shared/sessions/index.ts';
import { toIso } from '#shared/time/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';

/** Path of everything about one session. A session is a name that is there from the first use on, so none is unknown. */
export const sessionPathSchema = z.object({ id: sessionIdSchema.meta({ description: "The session's id." }) });

const holderSchema = z.strictObject({
  taskId: z.string(),
  startedAt: z.iso.datetime().nullable().meta({ description: 'Null while it does not run: before its start, and between attempts.' }),
  worker: z.string().nullable(),
});

const waitingSchema = z.array(z.strictObject({ taskId: z.string(), position: z.int(), reason: z.string() }));

const modeSchema = {
  mode: z.enum(QUEUE_MODES),
  modeSource: z.enum(['message', 'session', 'surface', 'global']).meta({ description: 'Where the mode comes from.' }),
};

/** A session in a list. */
export const sessionSummarySchema = z
  .strictObject({
    id: z.string(),
    ...modeSchema,
    surface: z.string(),
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
    surface: z.string().meta({ description: 'Where its messages come from.' }),
    holder: holderSchema
      .extend({ status: z.string(), reason: z.string().nullable().meta({ description: 'Why it does not run yet.' }) })
      .nullable()
      .meta({ description: 'The task whose turn it is.' }),
    waiting: waitingSchema.meta({ description: 'The next hundred, in order; `position` counts the tasks before each.' }),
    waitingTotal: z.int(),
    transcriptLength: z.int().meta({ description: 'Turns that an agent is given as history.' }),
  })
  .meta({ id: 'Session' });

export function viewSummary({ holder, waiting, ...rest }: SessionSummary): z.infer<typeof sessionSummarySchema> {
  return { ...rest, holder: holder && { ...holder, startedAt: toIso(holder.startedAt) }, waiting: viewWaiting(waiting) };
}

function viewWaiting(waiting: SessionSummary['waiting']): z.infer<typeof waitingSchema> {
  return waiting.map(({ taskId, position, reason }) => ({ taskId, position, reason }));
}

function viewSession(record: SessionRecord, transcriptLength: number): z.infer<typeof sessionViewSchema> {
  const { id, mode, modeSource, surface, holder, waiting, waitingTotal } = record;
  return {
    id,
    mode,
    modeSource,
    surface,
    holder: holder && {
      taskId: holder.taskId,
      startedAt: toIso(holder.startedAt),
      worker: holder.worker,
      status: holder.status,
      reason: holder.reason,
    },
    waiting: viewWaiting(waiting),
    waitingTotal,
    transcriptLength,
  };
}

/** A session as it is now. */
export async function showSession(ledger: Ledger, tenant: string, id: string): Promise<z.infer<typeof sessionViewSchema>> {
  const [record, length] = await Promise.all([readSession({ ledger }, tenant, id), countTurns(ledger, tenant, id)]);
  return viewSession(record, length);
}
