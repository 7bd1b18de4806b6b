import type { HttpCalls } from './http-calls.ts';
import type { Question } from './openapi.gen.ts';
import { readPages } from './pages.ts';
import type { ListQuestionsQuery } from './queries.ts';

interface Signalled {
  signal?: AbortSignal | undefined;
}

/** What runs ask people. */
export class Questions {
  readonly #calls: HttpCalls;

  constructor(calls: HttpCalls) {
    this.#calls = calls;
  }

  /** Of the newest task first; by default all, also those that are answered. */
  list(query: ListQuestionsQuery = {}, { signal }: Signalled = {}): AsyncGenerator<Question, void> {
    return readPages(this.#calls, { path: '/v1/questions', query, signal });
  }

  async get(id: string, { signal }: Signalled = {}): Promise<Question> {
    return await this.#calls.json({ method: 'GET', path: pathOf(id), signal });
  }

  /**
   * Answers a question, whose run goes on with it. Not repeated by itself after a lost answer: the second is refused with `question.answered`, whoever
   * gave the first.
   */
  async answer(id: string, answer: unknown, { signal }: Signalled = {}): Promise<Question> {
    return await this.#calls.json({ method: 'POST', path: pathOf(id, '/answer'), json: { answer }, signal });
  }
}

function pathOf(id: string, rest = ''): string {
  return `/v1/questions/${encodeURIComponent(id)}${rest}`;
}
