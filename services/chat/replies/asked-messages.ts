import type { Log } from '#shared/log/index.ts';

interface Memory {
  get<T>(key: string): Promise<T | null>;
  set(key: string, value: unknown, ttlMs?: number): Promise<void>;
}

export interface AskedMessagesOptions {
  readonly memory: Memory;
  /** How long a question may be open. */
  readonly keepMs: number;
  readonly log: Log;
}

/** AskedMessages is responsible for knowing which message of a platform asks which question, so that a reply to it is the answer. */
export class AskedMessages {
  readonly #options: AskedMessagesOptions;

  constructor(options: AskedMessagesOptions) {
    this.#options = options;
  }

  /** Never rejects: without it a reply is a message like any other. */
  async note(chat: string, message: string, question: string): Promise<void> {
    const { memory, keepMs, log } = this.#options;
    await memory.set(keyOf(chat, message), question, keepMs).catch((error: unknown) => {
      log.warn({ event: 'chat.asked-unknown', question, err: error }, 'a reply to the message of a question will not answer it');
    });
  }

  /** The question that a message asks, by its id; null for any other message. */
  async find(chat: string, message: string): Promise<string | null> {
    return await this.#options.memory.get<string>(keyOf(chat, message));
  }
}

function keyOf(chat: string, message: string): string {
  return `asked:${chat}:${message}`;
}
