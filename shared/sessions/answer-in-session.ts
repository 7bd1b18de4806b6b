import { choiceOf, readTextAnswer } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { ellipsize } from '../text/index.ts';
import { answerQuestion, findKeptQuestion, mayAnswer, questionOfSession, type QuestionRecord } from '../waits/index.ts';
import type { CommandAnswer } from './commands.ts';
import type { IncomingMessage } from './incoming-message.ts';

/** A text that answers a question. */
export interface SessionAnswer {
  question: QuestionRecord;
  answer: unknown;
}

type Words = Pick<IncomingMessage, 'tenant' | 'session' | 'answerer' | 'text' | 'repliesTo'>;

/**
 * The answer that a text is: a reply to the message of a question, or a choice of the session's question, or its number, of somebody who may
 * answer. Null for any other text.
 */
export async function findAnswer(ledger: Ledger, { tenant, session, answerer, text, repliesTo }: Words): Promise<SessionAnswer | null> {
  if (answerer === undefined) return null;
  const replied = repliesTo === undefined ? null : await findKeptQuestion(ledger, tenant, repliesTo);
  if (replied !== null) return { question: replied, answer: readTextAnswer(replied, text) };
  const question = await questionOfSession(ledger, tenant, session);
  const answer = question === null ? undefined : choiceOf(question, text);
  if (question === null || answer === undefined) return null;
  return (await mayAnswer(ledger, tenant, question, answerer)) ? { question, answer } : null;
}

const MAX_SHOWN = 300;

/** Answers a question, and says what became of that. Somebody else may have been first. */
export async function giveAnswer(
  ledger: Ledger,
  { tenant, answerer }: Pick<Words, 'tenant' | 'answerer'>,
  { question: { id }, answer }: SessionAnswer,
): Promise<CommandAnswer> {
  if (answerer === undefined) return answered(id, 'You may not answer this question.', 'question.forbidden');
  try {
    await answerQuestion(ledger, tenant, { id, answer, by: answerer });
    return answered(id, `Answered: ${ellipsize(typeof answer === 'string' ? answer : JSON.stringify(answer), MAX_SHOWN)}`, null);
  } catch (error) {
    if (!(error instanceof MusterError && error.code.startsWith('question.'))) throw error;
    const isStillOpen = error.code === 'question.invalid';
    return answered(
      id,
      isStillOpen ? `This does not answer the question, which stays open (${error.message}).` : `${error.message}.`,
      error.code,
    );
  }
}

function answered(question: string, text: string, code: MusterError['code'] | null): CommandAnswer {
  const outcome = code === null ? 'done' : 'refused';
  return { text, change: { action: 'Answer', object: `questions/${question}`, outcome, code } };
}

/** A button of a question that a person pressed. */
export interface PressedChoice {
  question: string;
  /** Of the choice, from 1. */
  number: number;
}

/** Answers the question of a button, and says so. Some platforms name another thread for a button than for the message that it stands below. */
export async function givePressed(ledger: Ledger, words: Words, { question: id, number }: PressedChoice): Promise<CommandAnswer> {
  const question = await findKeptQuestion(ledger, words.tenant, id);
  const answer = question?.choices?.[number - 1];
  if (question === null || answer === undefined) return answered(id, 'This question is no longer kept.', 'question.not-found');
  return await giveAnswer(ledger, words, { question, answer });
}

/** Answers the session's question by words behind a command, for where nobody can reply to its message. */
export async function answerByWords(ledger: Ledger, words: Words): Promise<CommandAnswer> {
  const question = await questionOfSession(ledger, words.tenant, words.session);
  if (question === null) return { text: 'Nothing is asked here now.', change: null };
  if (words.text === '') return { text: `Asked is: ${question.question}\nAnswer it with /answer <words>.`, change: null };
  return await giveAnswer(ledger, words, { question, answer: readTextAnswer(question, words.text) });
}
