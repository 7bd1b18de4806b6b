import type { Asked } from '../../config/index.ts';
import type { NumberedEntry } from '../../ledger/index.ts';
import { isTerminal, type TaskBody, type TaskState } from '../../tasks/index.ts';
import { toIso } from '../../time/index.ts';
import type { AnsweredBy } from './answerer.ts';
import { askedOf, digestOf } from './asked.ts';

export const QUESTION_STATUSES = ['open', 'answered', 'expired', 'withdrawn'] as const;
export type QuestionStatus = (typeof QUESTION_STATUSES)[number];

/** The task, the number of the entry, and the digest of what is asked. */
export const QUESTION_ID = /^([0-9A-HJKMNP-TV-Z]{26})\.(\d{1,9})\.([0-9a-f]{8})$/;

/** The id of a question: the same however often the run comes to it, and another for anything else that it asks there. */
export function questionId(task: string, seq: number, asked: Asked): string {
  return `${task}.${seq}.${digestOf(asked)}`;
}

export function isQuestionId(id: string): boolean {
  return QUESTION_ID.test(id);
}

/** Where a question is: in which task, at which entry of its journal. */
export function placeOf(id: string): { task: string; seq: number } {
  const [, task = '', seq = '0'] = QUESTION_ID.exec(id) ?? [];
  return { task, seq: Number(seq) };
}

/** A question that a run put to people. Times are ms since the epoch. */
export interface QuestionRecord extends Asked {
  id: string;
  taskId: string;
  agent: string;
  session: string | null;
  status: QuestionStatus;
  /** What was answered, or taken because nobody did in time; null while there is nothing. */
  answer: unknown;
  /** Who answered it; null for nobody. */
  answeredBy: AnsweredBy | null;
  answeredAt: number | null;
  askedAt: number;
  expiresAt: number | null;
}

/** A question as callers see it. */
export function questionView({ askedAt, answeredAt, expiresAt, ...question }: QuestionRecord): Record<string, unknown> {
  return { ...question, answeredAt: toIso(answeredAt), askedAt: toIso(askedAt), expiresAt: toIso(expiresAt) };
}

interface AskingTask {
  body: Pick<TaskBody, 'id' | 'agent' | 'session'>;
  state: TaskState;
}

/** The question of an entry, as it stands at `now`, ms since the epoch. */
export function questionOf({ body, state }: AskingTask, entry: NumberedEntry, now: number): QuestionRecord {
  const asked = askedOf(entry);
  const status = statusOf(state, entry, now);
  const answer: unknown = entry.value === undefined ? null : JSON.parse(entry.value);
  return {
    id: questionId(body.id, entry.seq, asked),
    taskId: body.id,
    agent: body.agent,
    session: body.session,
    ...asked,
    status,
    answer,
    answeredBy: entry.by ?? null,
    answeredAt: status === 'answered' ? (entry.endedAt ?? null) : null,
    askedAt: entry.startedAt,
    expiresAt: entry.until ?? null,
  };
}

function statusOf(state: TaskState, { seq, status, until = Infinity, by }: NumberedEntry, now: number): QuestionStatus {
  if (status === 'completed') return by === undefined ? 'expired' : 'answered';
  if (until <= Math.min(now, state.completedAt ?? now)) return 'expired';
  // A run that ended meanwhile asks no more, nor does one that starts again until it comes there.
  return !isTerminal(state.status) && entryAwaited(state) === seq ? 'open' : 'withdrawn';
}

/** The number of the entry at which a run waits; undefined for one that does not. */
export function entryAwaited({ suspended, asking }: Pick<TaskState, 'suspended' | 'asking'>): number | undefined {
  return (suspended ?? asking)?.entry;
}

/** The id of the question that a run waits at, suspended or not; null for a run that asks nothing. */
export function questionAwaited({ status, gate, hold, asking }: Pick<TaskState, 'status' | 'gate' | 'hold' | 'asking'>): string | null {
  if (status === 'suspended') return gate === 'question' ? (hold?.what ?? null) : null;
  return asking?.question ?? null;
}
