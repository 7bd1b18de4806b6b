import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { JOURNAL_KINDS, JOURNAL_STATUSES, type Journal, type Ledger, type NumberedEntry, readJournal } from '#shared/ledger/index.ts';
import { instantSchema, toIso } from '#shared/time/index.ts';
import { usageRecord } from '#shared/tasks/index.ts';
import { answerList, onePageOf } from '../../lists.ts';
import { usageViewSchema } from '../../money/usage-view.ts';
import { findState, taskPathSchema } from '../find-tasks.ts';

const entryViewSchema = z
  .strictObject({
    seq: z.int().meta({ description: 'Its number, from 1.' }),
    kind: z.enum(JOURNAL_KINDS).meta({
      description: '`definition` is what the run began with, `input` messages that it took; the run waits at the others but a `step`.',
    }),
    name: z.string().meta({ description: 'Of a step the name that its agent gave it, of the definition the agent.' }),
    status: z.enum(JOURNAL_STATUSES).meta({
      description:
        '`started` may have been under way when its attempt ended; the next one does it again. The run is suspended at one that is `waiting`.',
    }),
    attempt: z.int().meta({ description: 'The number of the attempt that did it.' }),
    startedAt: instantSchema,
    endedAt: instantSchema.nullable(),
    until: instantSchema.nullable().meta({ description: 'Of one that the run waits at: until when at most; null for without end.' }),
    usage: usageViewSchema.nullable().meta({ description: 'What its work used; null for nothing that is known.' }),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable().meta({ description: 'Of one that failed.' }),
    replays: z.int().meta({ description: 'How many later attempts got what it gave, without doing it again.' }),
  })
  .meta({ id: 'JournalEntry' });

const journalSchema = onePageOf(entryViewSchema, 'By number.').meta({ id: 'Journal' });

/** `GET /v1/tasks/:id/journal`: what the run of a task has done, step by step. What the steps gave is not shown. */
export function getJournal({ ledger }: { ledger: Ledger }): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/journal',
    operationId: 'getJournal',
    summary: 'The journal of a run',
    description:
      'The steps of `context.step`, messages that the run took, and what it waited for. Kept as long as the task; empty for a run without steps.',
    scope: 'read',
    errors: ['task.not-found'],
    request: { params: taskPathSchema },
    responses: { 200: journalSchema },
    handle: async ({ params }, { tenant }) => {
      await findState(ledger, tenant, params.id);
      const journal = await readJournal(ledger, { tenant, id: params.id });
      return answerList(journal.entries.map((entry) => viewEntry(entry, journal)));
    },
  });
}

function viewEntry(
  { seq, kind, name, status, attempt, startedAt, endedAt, until, usage, error }: NumberedEntry,
  { replays }: Journal,
): Record<string, unknown> {
  return {
    seq,
    kind,
    name,
    status,
    attempt,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: endedAt === undefined ? null : toIso(endedAt),
    until: until === undefined ? null : toIso(until),
    usage: usageRecord(usage),
    error: error ? { code: error.code, message: error.message } : null,
    replays: status === 'started' ? 0 : replays.filter((last) => last >= seq).length,
  };
}
