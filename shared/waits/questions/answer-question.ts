import { answerProblem, type Asked } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import { answerRuns, assertOpen, type Ledger, type NumberedEntry, readEntry, readTaskRow } from '../../ledger/index.ts';
import { redisNow } from '../../redis/index.ts';
import type { Task } from '../../tasks/index.ts';
import { type Answerer, refusalOf } from './answerer.ts';
import { isQuestionId, placeOf, questionOf, type QuestionRecord } from './question.ts';
import { listQuestion } from './question-list.ts';

/** Somebody's answer to a question. */
export interface GivenAnswer {
  id: string;
  /** JSON. */
  answer: unknown;
  by: Answerer;
}

/**
 * Answers a question: its run goes on with the first answer. Errors: `question.not-found`, `question.answered`, `question.closed`,
 * `question.forbidden`, `question.invalid`.
 */
export async function answerQuestion(ledger: Ledger, tenant: string, { id, answer, by }: GivenAnswer): Promise<QuestionRecord> {
  const { task, entry, question, now } = await readOpen(ledger, tenant, id);
  const refusal = refusalOf(question, task.body, by);
  if (refusal !== null) throw new MusterError('question.forbidden', refusal, { details: { to: question.to } });
  const value = checkAnswer(question, answer, ledger.settings.journal.maxEntryBytes);
  const { names: _names, ...answeredBy } = by;
  const ended: NumberedEntry = { ...entry, status: 'completed', endedAt: now, value, by: answeredBy };
  const fact = { question: id, answeredBy: by.name };
  const [given] = await answerRuns(ledger, tenant, [{ id: task.body.id, entry: ended, fact }]);
  if (given?.kind === 'failed') throw new Error(`The answer to question ${id} could not be recorded: ${given.why}`);
  if (given?.kind !== 'promoted' && given?.kind !== 'answered') {
    await readOpen(ledger, tenant, id);
    throw new MusterError('question.closed', 'The question is no longer open', { details: { id } });
  }
  await listQuestion(ledger, tenant, id);
  return questionOf(task, ended, now);
}

/** Whether somebody may answer a question; the scope has been checked. */
export async function mayAnswer(ledger: Ledger, tenant: string, question: QuestionRecord, by: Answerer): Promise<boolean> {
  const task = await readTaskRow(ledger, tenant, question.taskId);
  return task !== null && refusalOf(question, task.body, by) === null;
}

interface OpenQuestion {
  task: Task;
  entry: NumberedEntry;
  question: QuestionRecord;
  /** By Redis's clock, ms since the epoch. */
  now: number;
}

/** Errors: `question.not-found`, `question.answered`, `question.closed`. */
async function readOpen(ledger: Ledger, tenant: string, id: string): Promise<OpenQuestion> {
  const asked = await readAsking(ledger, tenant, id);
  if (asked?.question.id !== id) throw questionNotFound(id);
  const { status, answeredBy } = asked.question;
  if (status === 'open') return asked;
  const details = { status, answeredBy };
  if (status === 'answered') throw new MusterError('question.answered', `${answeredBy?.name ?? 'Somebody'} answered before`, { details });
  throw new MusterError('question.closed', `The question is ${status}`, { details });
}

/** What is asked at the place that an id names; null for nothing. Errors: `seal.key-lost`. */
async function readAsking(ledger: Ledger, tenant: string, id: string): Promise<OpenQuestion | null> {
  if (!isQuestionId(id)) return null;
  const { task: name, seq } = placeOf(id);
  const [task, entry, now] = await Promise.all([
    readTaskRow(ledger, tenant, name),
    readEntry(ledger, { tenant, id: name }, seq),
    redisNow(ledger.redis),
  ]);
  if (task === null || entry?.kind !== 'question') return null;
  assertOpen(ledger.seal, task.body, entry);
  return { task, entry, question: questionOf(task, entry, now), now };
}

export function questionNotFound(id: string): MusterError {
  return new MusterError('question.not-found', 'There is no such question', { details: { id: id.slice(0, 100) } });
}

/** JSON of an answer that fits. Errors: `question.invalid`. */
function checkAnswer(asked: Asked, answer: unknown, maxBytes: number): string {
  const problem = answerProblem(asked, answer);
  if (problem !== null) throw new MusterError('question.invalid', problem, { details: { choices: asked.choices } });
  const value = JSON.stringify(answer);
  if (Buffer.byteLength(value) <= maxBytes) return value;
  throw new MusterError('question.invalid', `The answer has more than ${maxBytes} bytes of JSON (journal.maxEntryBytes)`);
}
