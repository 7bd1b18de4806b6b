import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import type { TenantEvent } from '#shared/events/index.ts';
import { type Ledger, readHeads, readTaskRows } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { readQuestions } from '#shared/waits/index.ts';
import { runRecord, ScheduleStore } from '#shared/schedules/index.ts';
import type { Task } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { describePressure } from './pressure-notice.ts';

/** The stores that notices are described from. */
export interface NoticePorts {
  readonly ledger: Ledger;
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings };
  readonly log: Log;
}

/** A notification that one entry of the event stream leads to. */
export interface Notice {
  kind: string;
  /** Its fields, as far as the entry has them. */
  data: object;
  /** The task it is about; null for none. */
  task: string | null;
  /** Whether it is sent only for a task that a schedule made. */
  isOfRun: boolean;
  /** The questions that it is about. */
  questions: readonly string[];
}

/** Steps of a task, and the notifications of runs that they lead to. */
const RUN_KINDS: Readonly<Record<string, string>> = {
  'task.started': 'run.started',
  'task.completed': 'run.completed',
  'task.permanently_failed': 'run.failed',
  'task.cancelled': 'run.failed',
  'task.stale': 'run.failed',
  'task.skipped': 'run.skipped',
};

/** Steps of a task whose run comes to a question, or gets the answer. Runs that wait for something else take them too. */
const QUESTION_KINDS: Readonly<Record<string, string>> = {
  'task.suspended': 'question.opened',
  'task.asked': 'question.opened',
  'task.resumed': 'question.answered',
  'task.answered': 'question.answered',
};

/** The kinds of notifications that an event may lead to. */
export function kindsOf(event: string): string[] {
  return [event, RUN_KINDS[event], QUESTION_KINDS[event]].filter((kind) => kind !== undefined);
}

/** What facts say of the question that a run came to, or that was answered. */
const questionFactSchema = z
  .union([
    z.object({ hold: z.object({ gate: z.literal('question'), what: z.string() }) }).transform(({ hold }) => ({ questionId: hold.what })),
    z
      .object({ question: z.string(), answeredBy: z.string() })
      .transform(({ question, answeredBy }) => ({ questionId: question, answeredBy })),
  ])
  .nullable()
  .catch(null);

const askedSchema = z.object({ questionId: z.string() });
/** The questions that a reminder is about. */
const remindedSchema = z
  .union([askedSchema.transform((asked) => [asked]), z.object({ questions: askedSchema.array() }).transform(({ questions }) => questions)])
  .catch([]);

/** Facts about a task, as the writer of an entry knew them. */
const factSchema = z.record(z.string(), z.json());
type Fact = z.infer<typeof factSchema>;

/** The fields of an event that is about no task, besides kind and time; by the first word of the event. */
const DETAILS_BY_GROUP: Readonly<Record<string, (fields: TenantEvent['fields']) => object>> = {
  schedule: ({ schedule = null, number, about, reason }) => ({
    scheduleId: schedule,
    number: number === undefined ? null : Number(number),
    name: null,
    agent: null,
    session: null,
    ...(about ? factSchema.parse(JSON.parse(about)) : {}),
    reason: reason || null,
  }),
  daemon: ({ about }) => (about ? factSchema.parse(JSON.parse(about)) : {}),
  agent: ({ about }) => (about ? factSchema.parse(JSON.parse(about)) : {}),
  circuit: ({ about }) => (about ? factSchema.parse(JSON.parse(about)) : {}),
  budget: ({ about, spent }) => ({ ...(about ? factSchema.parse(JSON.parse(about)) : {}), spentMicroUsd: Number(spent ?? 0) }),
  question: ({ about }) => (about ? readReminder(factSchema.parse(JSON.parse(about))) : {}),
  finding: ({ about }) => (about ? factSchema.parse(JSON.parse(about)) : {}),
  action: ({ about }) => (about ? factSchema.parse(JSON.parse(about)) : {}),
  backpressure: (fields) => describePressure(fields, 'tenant'),
  fleet: ({ worker = null, queue = null, reason, about, ...load }) => ({
    worker,
    queue,
    reason: reason || null,
    ...(about ? factSchema.parse(JSON.parse(about)) : {}),
    ...(load['level'] === undefined ? {} : describePressure(load, 'fleet')),
  }),
};

/** A reminder with its times as callers see them. */
function readReminder({ questions, askedAt, expiresAt, ...fact }: Fact): object {
  if (questions !== undefined) return { ...fact, questions: factSchema.array().parse(questions).map(readReminder) };
  return { ...fact, askedAt: toIso(Number(askedAt)), expiresAt: expiresAt === null ? null : toIso(Number(expiresAt)) };
}

/** All notifications of an entry, always in the same order, which a reader's position counts on. */
export function readNotices({ event, tasks, fields, at: ms }: TenantEvent): Notice[] {
  const at = toIso(ms);
  const [group = ''] = event.split('.', 1);
  if (group === 'task') {
    const facts = readFacts(fields);
    return tasks.flatMap((taskId, position) => {
      const fact = facts[position];
      const asked = questionFactSchema.parse(fact ?? null);
      return kindsOf(event).flatMap((kind) => {
        const isOfQuestion = kind === QUESTION_KINDS[event];
        if (isOfQuestion && asked === null) return [];
        const data = { kind, at, taskId, ...(isOfQuestion ? asked : describeAttempt(event, fact)) };
        return {
          kind,
          data,
          task: taskId,
          isOfRun: kind === RUN_KINDS[event],
          questions: isOfQuestion && asked !== null ? [asked.questionId] : [],
        };
      });
    });
  }
  const describe = DETAILS_BY_GROUP[group];
  if (!describe) return [];
  const details = describe(fields);
  const questions = group === 'question' ? remindedSchema.parse(details).map(({ questionId }) => questionId) : [];
  return [{ kind: event, data: { kind: event, at, ...details }, task: null, isOfRun: false, questions }];
}

/** The entry's facts about its tasks, in their order. */
function readFacts({ facts }: TenantEvent['fields']): (Fact | null)[] {
  return facts === undefined ? [] : factSchema.nullable().array().parse(JSON.parse(facts));
}

/** The events that only a task with an attempt has. Without a fact it is the first attempt. */
const ATTEMPT_EVENTS = new Set(['task.scheduled', 'task.started', 'task.completed']);

function describeAttempt(event: string, fact: Fact | null | undefined): object {
  return fact ?? (ATTEMPT_EVENTS.has(event) ? { attempt: 1 } : {});
}

/** The tasks that are runs, found by the index without reading records. */
export async function findRuns({ redis, keys }: NoticePorts, tenant: string, tasks: readonly string[]): Promise<ReadonlySet<string>> {
  if (tasks.length === 0) return new Set();
  const members = tasks.map((id) => `source=schedule/${id}`);
  const scores = await redis.zmscore(keys.tenant(tenant).index, ...members);
  return new Set(tasks.filter((_, position) => scores[position] !== null));
}

/** The fields of each notice; a run's come from its current record. Null for a task that is no run or no longer kept. */
export async function describeNotices(
  parts: NoticePorts,
  tenant: string,
  notices: readonly Notice[],
  subjects: ReadonlyMap<string, Subject>,
): Promise<(object | null)[]> {
  const ids = notices.flatMap(({ task, isOfRun }) => (isOfRun ? (task ?? []) : []));
  const tasks = await readTaskRows(parts.ledger, tenant, ids);
  const { resultSummaryChars } = parts.config.settings.scheduler;
  const asked = await readQuestionTexts(parts.ledger, tenant, notices);
  return notices.map((notice) => {
    const known = { ...notice, data: withQuestions({ ...notice.data, ...subjects.get(notice.task ?? '') }, notice.questions, asked) };
    if (!notice.isOfRun) return known.data;
    const task = tasks[ids.indexOf(notice.task ?? '')];
    return task?.body.scheduleId ? describeRun(known, task, resultSummaryChars) : null;
  });
}

/** What the questions of notices ask, by id. */
async function readQuestionTexts(ledger: Ledger, tenant: string, notices: readonly Notice[]): Promise<ReadonlyMap<string, object>> {
  const ids = [...new Set(notices.flatMap(({ questions }) => questions))];
  const found = ids.length === 0 ? [] : await readQuestions(ledger, tenant, ids);
  return new Map(found.map(({ id, question, choices }) => [id, { question, choices }]));
}

/** What is asked, beside each id. */
function withQuestions(data: object, ids: readonly string[], asked: ReadonlyMap<string, object>): object {
  if (!('questions' in data) || !Array.isArray(data.questions)) return { ...data, ...asked.get(ids[0] ?? '') };
  return { ...data, questions: data.questions.map((each: object, at) => ({ ...each, ...asked.get(ids[at] ?? '') })) };
}

function describeRun({ kind, data }: Notice, task: Task, summaryCharacters: number): object {
  const { id, scheduleId, agent, occurrence, startedAt, ...now } = runRecord(task, summaryCharacters);
  const known = { ...data, scheduleId, runId: id, taskId: id, agent, occurrence };
  // It may have ended since it started.
  if (kind === 'run.started') return { ...known, status: 'running', startedAt, completedAt: null };
  const { status, completedAt, reason, resultSummary, error, inputTokens, outputTokens } = now;
  const ended = { ...known, status, startedAt, completedAt, reason };
  if (kind === 'run.completed') return { ...ended, resultSummary, inputTokens, outputTokens };
  return kind === 'run.failed' ? { ...ended, error, code: task.state.error?.code ?? null, willRetry: false } : ended;
}

/** The task of a notification, by the names that people know. */
export interface Subject {
  agent: string;
  session: string | null;
  source: string;
  /** Of its schedule. */
  scheduleId: string | null;
  number: number | null;
  name: string | null;
}

/** The subjects of the kept tasks, by id, read together and without their inputs. */
export async function readSubjects(parts: NoticePorts, tenant: string, tasks: readonly string[]): Promise<ReadonlyMap<string, Subject>> {
  if (tasks.length === 0) return new Map();
  const heads = await readHeads(parts.ledger, tenant, tasks);
  const named = await readNames(parts, tenant, [...new Set([...heads.values()].flatMap(({ scheduleId }) => scheduleId ?? []))]);
  return new Map(
    [...heads].map(([id, { agent, session, source, scheduleId }]) => {
      const { number = null, name = null } = (scheduleId === null ? undefined : named.get(scheduleId)) ?? {};
      return [id, { agent, session, source, scheduleId, number, name }];
    }),
  );
}

interface Named {
  number: number;
  name: string | null;
}

async function readNames(
  { redis, keys, config, log }: NoticePorts,
  tenant: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Named>> {
  const store = new ScheduleStore({ redis, keys, settings: config.settings, log });
  const found = (await store.read(tenant, ids)).filter((schedule) => schedule !== null);
  return new Map(found.map(({ id, number, name }) => [id, { number, name }]));
}
