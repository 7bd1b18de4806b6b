import type { OpenCancel } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';

export interface CancelRelayOptions {
  /** Cancels all that is below the task of an open cancel, until `mayContinue` says no. */
  run: (cancel: OpenCancel, mayContinue: () => boolean) => Promise<number>;
  log: Log;
}

/** Trees that one process cancels at once. */
const MAX_AT_ONCE = 100;

/**
 * CancelRelay is responsible for the sub-tasks of tasks that a message stopped: it cancels them behind the acceptance of the message, so that
 * its sender waits for one script only. Cancels that it has no room or no time for stay open, and workers continue them.
 */
export class CancelRelay {
  readonly #options: CancelRelayOptions;
  readonly #running = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: CancelRelayOptions) {
    this.#options = options;
  }

  /** Accepts a cancel that Redis keeps open. */
  add(cancel: OpenCancel): void {
    if (this.#isClosed || this.#running.size >= MAX_AT_ONCE) return;
    const running = this.#continue(cancel).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when each cancel so far has reached all below its task, or was left to workers. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Leaves to workers what is below the sub-tasks that are being cancelled now. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.idle();
  }

  async #continue(cancel: OpenCancel): Promise<void> {
    const { run, log } = this.#options;
    const { tenant, id: task } = cancel;
    try {
      await run(cancel, () => !this.#isClosed);
    } catch (error) {
      log.warn({ err: error, task, tenant }, 'not all tasks below a stopped one could be cancelled now; a worker will cancel them');
    }
  }
}
