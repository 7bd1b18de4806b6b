import { AsyncLocalStorage } from 'node:async_hooks';
import pRetry from 'p-retry';
import { z } from 'zod';
import type { Log } from '#shared/log/index.ts';
import type { ChatAnswer } from './chat-message.ts';

/** A minute in all: Redis comes back within seconds when it comes back by itself. */
const ABOUT_A_MINUTE = { retries: 11, minTimeout: 250, factor: 2, maxTimeout: 8000 } as const;

/**
 * InboundCalls is responsible for failures on the way of a message into the ledger. A platform repeats a failed request. A message of the
 * platform's own connection is sent once, so it is retried here for about a minute.
 */
export class InboundCalls {
  readonly #current = new AsyncLocalStorage<InboundCall>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** The request that the running code belongs to; undefined for what a connection brought. */
  get current(): InboundCall | undefined {
    return this.#current.getStore();
  }

  async run<T>(call: InboundCall, work: () => Promise<T>): Promise<T> {
    return await this.#current.run(call, work);
  }

  /** Accepts one message. */
  async accept(work: () => Promise<void>): Promise<void> {
    const { current } = this;
    if (current !== undefined) return await current.accept(work);
    await pRetry(() => work().catch((error: unknown) => this.dropUnreadable(error)), ABOUT_A_MINUTE);
  }

  /** Reads what a message needs before it is accepted. Some adapters hide such a failure, so the call records it here. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    const { current } = this;
    if (current === undefined) return await pRetry(work, ABOUT_A_MINUTE);
    return await work().catch((error: unknown) => {
      current.fail(error);
      throw error;
    });
  }

  /** An update that cannot be read is logged and dropped, because it would come again for days. Throws every other failure. */
  dropUnreadable(failure: unknown): void {
    if (!isUnreadable(failure)) throw failure;
    this.#log.error({ event: 'chat.unreadable', err: failure }, 'an update cannot be read, and is dropped');
  }
}

/**
 * InboundCall is responsible for what one request of a platform leads to: the adapters go on after they answered, and some of
 * them hide errors. Nothing may be acknowledged before it is in the ledger.
 */
export class InboundCall {
  readonly #tasks: Promise<unknown>[] = [];
  readonly #failures: unknown[] = [];
  #running = 0;
  #accepted = 0;
  /** The answer to a slash command, for platforms that show the response to the request. */
  answer: ChatAnswer | null = null;

  /** For the adapter, which hands over whatever goes on after its answer. */
  readonly waitUntil = (task: Promise<unknown>): void => {
    this.#tasks.push(task.catch((error: unknown) => this.fail(error)));
  };

  /** Counts a message that is being accepted; what it throws makes the platform send the request again. */
  async accept(work: () => Promise<void>): Promise<void> {
    this.#running += 1;
    try {
      await work();
      this.#accepted += 1;
    } catch (error) {
      this.fail(error);
      throw error;
    } finally {
      this.#running -= 1;
    }
  }

  fail(error: unknown): void {
    this.#failures.push(error);
  }

  /** Resolves when all handed-over work has ended, also work that was added meanwhile. */
  async settled(): Promise<void> {
    for (let known = 0; known < this.#tasks.length;) {
      known = this.#tasks.length;
      await Promise.all(this.#tasks);
    }
  }

  /** The first failure; before it the first that a repeated delivery may not meet. */
  get failure(): unknown {
    return this.#failures.find((failure) => !isUnreadable(failure)) ?? this.#failures[0];
  }

  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  /** Whether a message was accepted, no other is being accepted, and none has failed. */
  get isAccepted(): boolean {
    return this.#accepted > 0 && this.#running === 0 && !this.hasFailed;
  }
}

/** An adapter's error for an id or a text that is not of its platform's form. */
const validationErrorSchema = z.object({ code: z.literal('VALIDATION_ERROR') });

/**
 * Whether an adapter cannot read an update, and could not the next time either. An error with a cause is about something else, such as a
 * failed call to the platform.
 */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof z.ZodError || validationErrorSchema.safeParse(error).success) return true;
  return (error instanceof TypeError || error instanceof RangeError) && error.cause === undefined;
}
