import type { ChatAnswer } from './chat-message.ts';
import { z } from 'zod';

/**
 * InboundCall is responsible for what one request of a platform leads to: the adapters go on after they answered, and some of
 * them keep errors to themselves. Nothing may be acknowledged before it is in the ledger.
 */
export class InboundCall {
  readonly #tasks: Promise<unknown>[] = [];
  readonly #failures: unknown[] = [];
  #running = 0;
  #taken = 0;
  /** What a slash command is answered with, for platforms that show the answer to the request itself. */
  answer: ChatAnswer | null = null;

  /** For the adapter, which hands over whatever goes on after its answer. */
  readonly waitUntil = (task: Promise<unknown>): void => {
    this.#tasks.push(task.catch((error: unknown) => this.fail(error)));
  };

  /** Counts a message that is being taken; what it throws makes the platform send the request again. */
  async track(work: () => Promise<void>): Promise<void> {
    this.#running += 1;
    try {
      await work();
      this.#taken += 1;
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

  /** Until everything that was handed over has ended, also what came while it waited. */
  async settled(): Promise<void> {
    for (let done = 0; done < this.#tasks.length; done = this.#tasks.length) await Promise.all(this.#tasks);
  }

  /** The first thing that went wrong, and rather one that another delivery of the same may get past. */
  get failure(): unknown {
    return this.#failures.find((failure) => !isUnreadable(failure)) ?? this.#failures[0];
  }

  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  /** Whether something was taken and nothing is on its way any more: what else goes on is not worth another delivery. */
  get isAccepted(): boolean {
    return this.#taken > 0 && this.#running === 0 && !this.hasFailed;
  }
}

/** What an adapter says of an id or a text that none of its platform's is. */
const NOT_THEIRS = z.object({ code: z.literal('VALIDATION_ERROR') });

/**
 * Whether an error says that an update is not what its platform's adapter reads: it would not be read the next time either. What has a
 * cause is about something else, such as a call to the platform that failed.
 */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof z.ZodError || NOT_THEIRS.safeParse(error).success) return true;
  return (error instanceof TypeError || error instanceof RangeError) && error.cause === undefined;
}
