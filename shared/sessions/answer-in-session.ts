import { type ErrorCode, hasCode, MusterError } from '../errors/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { answerQuestion, findQuestion, mayAnswer, type QuestionRecord } from '../waits/index.ts';
import type { IncomingMessage } from './incoming-message.ts';
import { readChoices } from './session-store.ts';

/** A text that answers the open question of its session. */
export interface SessionAnswer {
  question: QuestionRecord;
  answer: string;
}

type Words = Pick<IncomingMessage, 'tenant' | 'session' | 'answerer' | 'text'>;

/** The answer that a text is: a choice of the session's open question, or its number, of somebody who may answer. Null for any other text. */
export async function findAnswer(ledger: Ledger, { tenant, session, answerer, text }: Words): Promise<SessionAnswer | null> {
  if (answerer === undefined) return null;
  const { question: id } = await readChoices(ledger, tenant, session);
  if (id === null) return null;
  const question = await findKept(ledger, tenant, id);
  const answer = question?.status === 'open' ? choiceOf(question, text) : undefined;
  if (question === null || answer === undefined) return null;
  return (await mayAnswer(ledger, tenant, question, answerer)) ? { question, answer } : null;
}

async function findKept(ledger: Ledger, tenant: string, id: string): Promise<QuestionRecord | null> {
  try {
    return await findQuestion(ledger, tenant, id);
  } catch (error) {
    if (hasCode(error, 'question.not-found')) return null;
    throw error;
  }
}

function choiceOf({ choices }: QuestionRecord, text: string): string | undefined {
  const said = text.trim().toLowerCase();
  return choices?.find((choice, at) => choice.toLowerCase() === said || `${at + 1}` === said);
}

/** What became of an answer: what the person is told, and the code of its refusal. */
export interface GivenInSession {
  text: string;
  code: ErrorCode | null;
}

/** Answers it, and says so. Somebody else may have been first. */
export async function giveAnswer(
  ledger: Ledger,
  { tenant, answerer }: Words,
  { question: { id }, answer }: SessionAnswer,
): Promise<GivenInSession> {
  if (answerer === undefined) return { text: 'You may not answer this question.', code: 'question.forbidden' };
  try {
    await answerQuestion(ledger, tenant, { id, answer, by: answerer });
    return { text: `Answered: ${answer}`, code: null };
  } catch (error) {
    if (error instanceof MusterError && error.code.startsWith('question.')) return { text: `${error.message}.`, code: error.code };
    throw error;
  }
}

/** A button of a question that a person pressed. */
export interface PressedChoice {
  question: string;
  /** Of the choice, from 1. */
  number: number;
}

/** Answers the question of a button, and says so. Some platforms name another thread for a button than for the message that it stands below. */
export async function givePressed(ledger: Ledger, words: Words, { question: id, number }: PressedChoice): Promise<GivenInSession> {
  const question = await findKept(ledger, words.tenant, id);
  const answer = question?.choices?.[number - 1];
  if (question === null || answer === undefined) return { text: 'This question is no longer kept.', code: 'question.not-found' };
  return await giveAnswer(ledger, words, { question, answer });
}
