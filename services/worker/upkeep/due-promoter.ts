import { type DueTask, type Ledger, readDue, promoteDue } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';

export interface DuePromoterOptions {
  ledger: Ledger;
  log: Log;
}

/** Tasks promoted by one poll. */
const PAGE = 200;
/** After a task that could not be promoted, the next poll waits at least so long. */
const AFTER_FAILURE_MS = 1000;

/**
 * DuePromoter is responsible for starting tasks whose time has come by Redis's clock, so that no worker's clock matters. Every worker
 * polls; the first one promotes a task, once.
 */
export class DuePromoter {
  readonly #options: DuePromoterOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isWoken = false;
  #isStopped = true;

  constructor(options: DuePromoterOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStopped = false;
    this.wake();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  /** Polls at once: this worker made a task wait, perhaps for less than the time until the next poll. */
  wake(): void {
    if (this.#isStopped) return;
    this.#isWoken = true;
    clearTimeout(this.#timer);
    this.#running ??= this.#poll().finally(() => {
      this.#running = undefined;
      if (this.#isWoken) this.wake();
    });
  }

  async #poll(): Promise<void> {
    this.#isWoken = false;
    const nextInMs = await this.#promote();
    if (!this.#isStopped && !this.#isWoken) this.#timer = setTimeout(() => this.wake(), nextInMs);
  }

  /** Returns when to poll again, ms from now. */
  async #promote(): Promise<number> {
    const { ledger, log } = this.#options;
    const { duePollMs } = ledger.settings.worker;
    let next = duePollMs;
    try {
      for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
        const { tasks, nextInMs } = await readDue(ledger, shard, PAGE);
        const isAllDone = await this.#promoteTasks(tasks);
        if (nextInMs !== null) next = Math.min(next, isAllDone ? Math.max(nextInMs, 1) : AFTER_FAILURE_MS);
      }
    } catch (error) {
      log.debug({ err: error }, 'due tasks could not be read');
    }
    return next;
  }

  async #promoteTasks(tasks: readonly DueTask[]): Promise<boolean> {
    let isAllDone = true;
    for (const [tenant, own] of Map.groupBy(tasks, (task) => task.tenant)) {
      const answers = await promoteDue(
        this.#options.ledger,
        tenant,
        own.map(({ id }) => id),
      );
      for (const [position, answer] of answers.entries()) {
        if (answer.kind !== 'failed') continue;
        isAllDone = false;
        this.#options.log.error({ task: own[position]?.id, tenant, why: answer.why }, 'a task whose time has come could not be started');
      }
    }
    return isAllDone;
  }
}
