import type { DeliverySettings } from '../../config/index.ts';
import { type Clock, Recent } from '../../time/index.ts';

/** A file on its way into a chat. */
export interface OutgoingFile {
  readonly name: string;
  readonly mediaType: string;
  readonly data: Buffer;
}

/** A question on its way into a chat. */
export interface ChatQuestion {
  readonly id: string;
  readonly text: string;
  /** None for one that is answered in words. */
  readonly choices: readonly string[];
}

/**
 * A chat platform as deliveries see it: it shows that an answer is coming, posts it and edits it. Each call ends in bounded time; a
 * post that took too long is `unknown`.
 */
export interface ChatPort {
  /** The name that a task's `reply.platform` holds, like `telegram`. */
  readonly platform: string;
  /** The longest text that one message may hold, in UTF-16 units. */
  readonly maxCharacters: number;
  /** Without it only a final text is sent. */
  readonly canEdit: boolean;
  /** How long the thread's chat takes no edit yet, so that it is not changed more often than its platform allows. */
  quietMs(thread: string): number;
  /** Shows that an answer is coming. It may fail; that never fails a delivery. */
  startTyping(thread: string): Promise<void>;
  /**
   * Posts one message and answers with its id on the platform. `isPlain`: the text is lines of Muster's own, which
   * markdown would run together.
   * @throws DeliveryRefused when the platform says no; any other error counts as `transient`
   */
  post(thread: string, text: string, options?: { readonly isPlain: boolean }): Promise<{ readonly id: string }>;
  /**
   * Posts a question with a button for each choice, as far as the platform has buttons. A reply to its message answers it.
   * @throws DeliveryRefused when the platform says no; any other error counts as `transient`
   */
  ask(thread: string, question: ChatQuestion): Promise<{ readonly id: string }>;
  /**
   * Shows in the message of a question how it ended, and takes its buttons away. Only where `canEdit`.
   * @throws DeliveryRefused when the platform says no; any other error counts as `transient`
   */
  close(thread: string, id: string, ended: { readonly question: ChatQuestion; readonly end: string }): Promise<void>;
  /**
   * Posts a file as a message of its own; absent where the platform takes none.
   * @throws DeliveryRefused when the platform says no; any other error counts as `transient`
   */
  sendFile?(thread: string, file: OutgoingFile): Promise<{ readonly id: string }>;
  /**
   * Gives a posted message another text.
   * @throws DeliveryRefused when the platform says no; any other error counts as `transient`
   */
  edit(thread: string, id: string, text: string): Promise<void>;
}

/**
 * Why a platform did not take a message.
 * `throttled`: later, see `retryAfterMs`; `gone`: the chat, the bot's place in it or the message is no more, so never again;
 * `transient`: try again; `unknown`: it may or may not have been shown, so nothing is sent again by itself.
 */
export type RefusalKind = 'throttled' | 'gone' | 'transient' | 'unknown';

export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused';
  readonly kind: RefusalKind;
  /** How long the platform wants to be left alone, when it said so. */
  readonly retryAfterMs?: number;

  constructor(kind: RefusalKind, message: string, options: ErrorOptions & { retryAfterMs?: number } = {}) {
    const { retryAfterMs, ...rest } = options;
    super(message, rest);
    this.kind = kind;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
  }
}

/** What a call to a platform answers. Throws `DeliveryRefused` only: `transient` for what has no kind. The port limits its time. */
export async function callPlatform<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof DeliveryRefused ? error : new DeliveryRefused('transient', textOf(error), { cause: error });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Threads remembered; beyond that the sign shown longest ago is forgotten. */
const MAX_THREADS = 10_000;

/**
 * TypingSigns is responsible for showing in a chat that an answer is coming, no more often than its platform needs, however many
 * messages of one thread wait.
 */
export class TypingSigns {
  readonly #settings: DeliverySettings;
  readonly #clock: Clock;
  /** Thread -> when it was shown, monotonic ms. */
  readonly #shown = new Recent<string, number>({ maxEntries: MAX_THREADS });

  constructor(settings: DeliverySettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** How long a sign holds on this platform. */
  everyMs({ platform }: ChatPort): number {
    return this.#settings.typingMsByPlatform[platform] ?? this.#settings.typingMs;
  }

  /** Shows a sign unless the last one still holds. Does not wait for the platform. */
  show(port: ChatPort, thread: string): void {
    const name = `${port.platform} ${thread}`;
    const now = this.#clock.monotonic();
    if (now - (this.#shown.get(name) ?? Number.NEGATIVE_INFINITY) < this.everyMs(port)) return;
    this.#shown.set(name, now);
    void startTyping(port, thread);
  }
}

async function startTyping(port: ChatPort, thread: string): Promise<void> {
  try {
    await port.startTyping(thread);
  } catch {
    // The answer itself shows whether the chat can be reached.
  }
}
