import { appendJournal, type Ledger, type NumberedEntry } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';

/** JournalWriter is responsible for writing an attempt's entries in their order, all that came meanwhile in one call. */
export class JournalWriter {
  readonly #ledger: Ledger;
  readonly #attempt: RunningAttempt;
  #pending: NumberedEntry[] = [];
  #flushing: Promise<void> | undefined;

  constructor(ledger: Ledger, attempt: RunningAttempt) {
    this.#ledger = ledger;
    this.#attempt = attempt;
  }

  /** `isUrgent`: it is sent before this returns, unless others are under way. */
  write(entry: NumberedEntry, isUrgent = false): void {
    this.#pending.push(entry);
    if (isUrgent && !this.#flushing) this.#flushing = this.#flush(true);
    // A step that ends in this turn of the event loop is written in one call.
    else if (entry.status === 'started') setImmediate(() => this.#start());
    else this.#start();
  }

  #start(): void {
    if (this.#pending.length > 0) this.#flushing ??= Promise.resolve().then(() => this.#flush(false));
  }

  /** Resolves once all is written, or the attempt was stopped. */
  async flushed(): Promise<void> {
    this.#start();
    while (this.#flushing) await this.#flushing;
  }

  async #flush(isUrgent: boolean): Promise<void> {
    const { ref } = this.#attempt;
    while (this.#pending.length > 0 && !this.#attempt.stopped) {
      const entries = this.#pending.splice(0);
      if (!(await this.#append({ ref, entries, isUrgent }))) this.#attempt.stop({ kind: 'lease-lost' });
    }
    this.#flushing = undefined;
  }

  async #append(write: Parameters<typeof appendJournal>[1]): Promise<boolean> {
    try {
      return await retryWhileAway(() => appendJournal(this.#ledger, write), { signal: () => this.#attempt.signal });
    } catch (error) {
      if (this.#attempt.stopped) return true;
      throw error;
    }
  }
}
