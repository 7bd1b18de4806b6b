/**
 * One chat platform as deliveries see it, each of whose calls ends in bounded time: a post that took too long is `unknown`. Somewhere to show that an answer is coming, to post it and to edit it.
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
   * Posts one message and answers with its id on the platform. `isPlain`: the text is lines of Muster's own and no markdown, which
   * would run them together.
   * @throws DeliveryRefused when the platform says no; any other error counts as `transient`
   */
  post(thread: string, text: string, options?: { readonly isPlain: boolean }): Promise<{ readonly id: string }>;
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
