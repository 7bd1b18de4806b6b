import { isTerminal, type Task } from '../../tasks/index.ts';
import { ellipsize } from '../../text/index.ts';
import { findKeptQuestion, questionAwaited, questionOfSession, type QuestionRecord } from '../../waits/index.ts';
import type { AskedQuestion } from '../delivery.ts';
import type { DeliveryContext, HeldDelivery } from '../held-delivery.ts';
import { callPlatform, type ChatPort, type ChatQuestion, DeliveryRefused } from './chat-port.ts';

export interface QuestionSenderOptions {
  held: HeldDelivery;
  port: ChatPort;
  thread: string;
}

/** Between two tries, when the platform names no time: twice as long each time. */
const FIRST_RETRY_MS = 2000;
const MAX_RETRY_MS = 60_000;
const MAX_ANSWER = 300;

/**
 * QuestionSender is responsible for a run's questions in its chat: each is asked there when its session's turn for it comes, again after
 * `questions.remindMs`, and its messages show how it ended. What may have been shown is not posted again but as a reminder.
 */
export class QuestionSender {
  readonly #context: DeliveryContext;
  readonly #options: QuestionSenderOptions;
  /** Until when nothing is tried, monotonic ms. */
  #quietUntil = 0;
  #refusals = 0;

  constructor(context: DeliveryContext, options: QuestionSenderOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** Asks what the task waits for, and closes what it asked before. Refusals of the platform are tried again with a later call. */
  async follow(task: Task): Promise<void> {
    if (this.#context.clock.monotonic() < this.#quietUntil && !isTerminal(task.state.status)) return;
    const { asked } = this.#options.held.delivery;
    const open = questionAwaited(task.state);
    try {
      if (asked !== undefined && asked.id !== open && !asked.isClosed) await this.#close(task.body.tenant, asked);
      if (open !== null) await this.#ask(task.body, open);
      this.#refusals = 0;
    } catch (error) {
      if (!(error instanceof DeliveryRefused)) throw error;
      this.#backOff(error);
    }
  }

  /** Posts the question, or a reminder of it, when it is time for that. */
  async #ask(body: Task['body'], id: string): Promise<void> {
    const { ledger, clock } = this.#context;
    const { asked: known } = this.#options.held.delivery;
    const asked = known?.id === id ? known : { id, at: clock.now(), posts: 0, messages: [], isClosed: false };
    // Of several times that have passed one reminder is enough.
    const posts = 1 + ledger.settings.questions.remindMs.filter((ms) => asked.at + ms <= clock.now()).length;
    if (asked.posts >= posts) return;
    const question = await this.#current(body, id);
    // Another question of the session may be asked before.
    if (question?.id === id && question.status === 'open') await this.#post(asked, posts, question);
  }

  /** What the chat is asked now. */
  async #current({ tenant, session }: Task['body'], id: string): Promise<QuestionRecord | null> {
    const { ledger } = this.#context;
    return session === null ? await findKeptQuestion(ledger, tenant, id) : await questionOfSession(ledger, tenant, session);
  }

  async #post(asked: AskedQuestion, posts: number, question: QuestionRecord): Promise<void> {
    const { held, port, thread } = this.#options;
    await held.save({ asked: { ...asked, posts } });
    try {
      const { id } = await callPlatform(() => port.ask(thread, shown(question, asked.posts > 0)));
      await held.save({ asked: { ...asked, posts, messages: [...asked.messages, id] } });
    } catch (error) {
      if (isLater(error)) await held.save({ asked });
      throw error;
    }
  }

  /** Shows how a question ended. */
  async #close(tenant: string, asked: AskedQuestion): Promise<void> {
    const question = await findKeptQuestion(this.#context.ledger, tenant, asked.id);
    if (question?.status === 'open') return;
    const { held, port } = this.#options;
    if (question !== null && port.canEdit) await this.#edit(asked, question);
    await held.save({ asked: { ...asked, isClosed: true } });
    if (question !== null && !port.canEdit && asked.posts > 0) await this.#notify(question);
  }

  async #edit({ messages }: AskedQuestion, question: QuestionRecord): Promise<void> {
    const { port, thread } = this.#options;
    const ended = { question: shown(question, false), end: endOf(question) };
    for (const message of messages) {
      await callPlatform(() => port.close(thread, message, ended)).catch((error: unknown) => {
        // A message that cannot be edited any more stays as it is.
        if (isLater(error)) throw error;
      });
    }
  }

  /** Who answered in a chat knows by its answer there. */
  async #notify(question: QuestionRecord): Promise<void> {
    const { port, thread } = this.#options;
    const { kind } = question.answeredBy ?? {};
    if (kind !== 'chat' && kind !== 'visitor') await callPlatform(() => port.post(thread, endOf(question), { isPlain: true }));
  }

  #backOff({ retryAfterMs }: DeliveryRefused): void {
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** this.#refusals, MAX_RETRY_MS);
    this.#refusals += 1;
    this.#quietUntil = this.#context.clock.monotonic() + Math.max(delayMs, retryAfterMs ?? 0);
  }
}

/** Whether the platform did nothing, and may do it later. */
function isLater(error: unknown): boolean {
  return !(error instanceof DeliveryRefused) || error.kind === 'throttled' || error.kind === 'transient';
}

function shown({ id, question, choices }: QuestionRecord, isReminder: boolean): ChatQuestion {
  return { id, text: isReminder ? `Still open: ${question}` : question, choices: choices ?? [] };
}

/** How a question ended, for its chat. */
function endOf({ status, answer, answeredBy }: QuestionRecord): string {
  const words = ellipsize(typeof answer === 'string' ? answer : JSON.stringify(answer), MAX_ANSWER);
  if (status === 'answered') return `Answered by ${answeredBy?.name ?? 'somebody'}: ${words}`;
  if (status === 'withdrawn') return 'Withdrawn: its task has ended.';
  return answer === null ? 'Nobody answered in time.' : `Nobody answered in time; taken: ${words}`;
}
