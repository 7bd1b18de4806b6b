import { z } from 'zod';
import { readLargeValue } from '#shared/execution/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import type { FileStore } from '#shared/files/index.ts';
import { type Call, route, type Route } from '#shared/http/index.ts';
import { JOURNAL_KINDS, JOURNAL_STATUSES, type Journal, type Ledger, type NumberedEntry, readJournal } from '#shared/ledger/index.ts';
import { hasScope } from '#shared/tenants/index.ts';
import { instantSchema, toIso } from '#shared/time/index.ts';
import { usageRecord } from '#shared/tasks/index.ts';
import { answerList, onePageOf } from '../../lists.ts';
import { usageViewSchema } from '../../money/usage-view.ts';
import { findState, taskPathSchema } from '../find-tasks.ts';

/** Bytes of JSON that a list shows of what an entry gave, and of what it was given. */
const MAX_LISTED_BYTES = 4096;

const HIDDEN = 'Absent without the scope `journal`, and where `journal.bodies` is off.';

const entryViewSchema = z
  .strictObject({
    seq: z.int().meta({ description: 'Its number, from 1.' }),
    kind: z.enum(JOURNAL_KINDS).meta({
      description:
        '`definition` is what the run began with, `input` messages that it took, `model` and `tool` calls of either; the run waits at the others but a `step`.',
    }),
    name: z.string().meta({ description: 'Of a step the name that its agent gave it, of the definition the agent.' }),
    version: z.string().nullable().meta({ description: 'Of the definition, the version of the agent; null for none.' }),
    status: z.enum(JOURNAL_STATUSES).meta({
      description:
        '`started` may have been under way when its attempt ended; the next one does it again. The run is suspended at one that is `waiting`.',
    }),
    attempt: z.int().meta({ description: 'The number of the attempt that did it.' }),
    startedAt: instantSchema,
    endedAt: instantSchema.nullable(),
    until: instantSchema.nullable().meta({ description: 'Of one that the run waits at: until when at most; null for without end.' }),
    bytes: z.int().nullable().meta({ description: 'Bytes of the JSON that it gave; null for nothing.' }),
    file: z.string().nullable().meta({ description: 'The id of the file that has this; null where the journal has it itself.' }),
    value: z
      .unknown()
      .optional()
      .meta({
        description: `What it gave; null for nothing, and where it cannot be opened. In a list also null for more than ${MAX_LISTED_BYTES} bytes. ${HIDDEN}`,
      }),
    input: z
      .unknown()
      .optional()
      .meta({
        description: `What it was given: a question with its choices, the \`match\` of an event, the tasks of a delegation, the arguments of a tool. As \`value\`. ${HIDDEN}`,
      }),
    usage: usageViewSchema.nullable().meta({ description: 'What its work used; null for nothing that is known.' }),
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable().meta({ description: 'Of one that failed.' }),
    replays: z.int().meta({ description: 'How many later attempts got what it gave, without doing it again.' }),
  })
  .meta({ id: 'JournalEntry' });

const journalSchema = onePageOf(entryViewSchema, 'By number.').meta({ id: 'Journal' });

export interface JournalPorts {
  readonly ledger: Ledger;
  readonly files: Pick<FileStore, 'open'>;
}

/** What runs of tasks have done, step by step. */
export function journalRoutes(ports: JournalPorts): Route[] {
  return [getJournal(ports), getJournalEntry(ports)];
}

/** `GET /v1/tasks/:id/journal` */
function getJournal({ ledger }: JournalPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/journal',
    operationId: 'getJournal',
    summary: 'The journal of a run',
    description:
      'The steps of `context.step`, messages that the run took, and what it waited for. Kept as long as the task; empty for a run without steps.',
    scope: 'read',
    errors: ['task.not-found', 'unavailable.files'],
    request: { params: taskPathSchema },
    responses: { 200: journalSchema },
    handle: async ({ params }, call) => {
      const { tenant } = call;
      await findState(ledger, tenant, params.id);
      const journal = await readJournal(ledger, { tenant, id: params.id });
      const maxBytes = mayShowBodies(ledger, call) ? MAX_LISTED_BYTES : null;
      return answerList(journal.entries.map((entry) => viewEntry(entry, journal, maxBytes)));
    },
  });
}

const entryPathSchema = taskPathSchema.extend({ seq: z.coerce.number().int().min(1).meta({ description: "The entry's number." }) });

/** `GET /v1/tasks/:id/journal/:seq` */
function getJournalEntry({ ledger, files }: JournalPorts): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/journal/:seq',
    operationId: 'getJournalEntry',
    summary: 'One entry of a journal, whole',
    scope: 'read',
    errors: ['task.not-found', 'journal.not-found', 'unavailable.files', 'seal.key-lost'],
    request: { params: entryPathSchema },
    responses: { 200: entryViewSchema },
    handle: async ({ params: { id, seq } }, call) => {
      const { tenant } = call;
      await findState(ledger, tenant, id);
      const journal = await readJournal(ledger, { tenant, id });
      const entry = journal.entries.find((each) => each.seq === seq);
      if (!entry) throw new MusterError('journal.not-found', `The journal of the task has no entry ${seq}`, { details: { seq } });
      if (!mayShowBodies(ledger, call)) return { status: 200, body: viewEntry(entry, journal, null) };
      const large = entry.large && (await readLargeValue({ ledger, files }, tenant, entry));
      return { status: 200, body: viewEntry({ ...entry, ...(large && { value: large }) }, journal, Infinity) };
    },
  });
}

function mayShowBodies({ settings }: Ledger, { key }: Call): boolean {
  return settings.journal.bodies && key !== null && hasScope(key.scopes, 'journal');
}

/** `maxBytes`: of JSON of each body that is shown; null shows none. */
function viewEntry(entry: NumberedEntry, { replays }: Journal, maxBytes: number | null): Record<string, unknown> {
  const { seq, kind, name, status, attempt, startedAt, endedAt, until, usage, error } = entry;
  return {
    seq,
    kind,
    name,
    version: entry.version ?? null,
    status,
    attempt,
    startedAt: new Date(startedAt).toISOString(),
    endedAt: endedAt === undefined ? null : toIso(endedAt),
    until: until === undefined ? null : toIso(until),
    bytes: bytesOf(entry),
    file: entry.large?.file ?? null,
    ...(maxBytes !== null && { value: shown(entry.value, maxBytes), input: shown(entry.wait ?? entry.given, maxBytes) }),
    usage: usageRecord(usage),
    error: error ? { code: error.code, message: error.message } : null,
    replays: status === 'started' ? 0 : replays.filter((last) => last >= seq).length,
  };
}

function bytesOf({ value, large, bytes }: NumberedEntry): number | null {
  if (large) return large.bytes;
  return value === undefined ? (bytes ?? null) : Buffer.byteLength(value);
}

function shown(json: string | undefined, maxBytes: number): unknown {
  return json === undefined || Buffer.byteLength(json) > maxBytes ? null : (JSON.parse(json) as unknown);
}
