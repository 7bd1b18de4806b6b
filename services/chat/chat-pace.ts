/** Chats remembered; more forget those that were changed longest ago. */
const MAX_CHATS = 10_000;

/**
 * ChatPace is responsible for how often one chat of a platform changes: its posts and edits share one interval, whichever answers they
 * belong to, because platforms count them together.
 */
export class ChatPace {
  readonly #now: () => number;
  /** Chat -> when it was changed last, the oldest first. */
  readonly #changedAt = new Map<string, number>();

  /** `now`: monotonic, ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  changed(chat: string): void {
    this.#changedAt.delete(chat);
    this.#changedAt.set(chat, this.#now());
    const [oldest] = this.#changedAt.keys();
    if (this.#changedAt.size > MAX_CHATS && oldest !== undefined) this.#changedAt.delete(oldest);
  }

  /** How long until the chat may be changed again, when at least `everyMs` are between two changes. */
  quietMs(chat: string, everyMs: number): number {
    const changedAt = this.#changedAt.get(chat);
    return changedAt === undefined ? 0 : Math.max(0, changedAt + everyMs - this.#now());
  }
}
