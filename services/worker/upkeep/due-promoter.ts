import { type DueTask, type Ledger, readDue, promoteDue } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import { isRedisUnavailable } from '#shared/redis/index.ts';

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
    let next = ledger.settings.worker.duePollMs;
    for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
      try {
        next = Math.min(next, await this.#promoteShard(shard));
      } catch (error) {
        // A node of a cluster that is away keeps no task of another node waiting.
        log.debug({ err: error, shard }, 'due tasks of a shard could not be read');
      }
    }
    return next;
  }

  async #promoteShard(shard: number): Promise<number> {
    const { tasks, nextInMs } = await readDue(this.#options.ledger, shard, PAGE);
    let isAllDone = true;
    for (const [tenant, own] of Map.groupBy(tasks, (task) => task.tenant)) {
      isAllDone = (await this.#promoteTenant(tenant, own)) && isAllDone;
    }
    if (nextInMs === null) return Infinity;
    return isAllDone ? Math.max(nextInMs, 1) : AFTER_FAILURE_MS;
  }

  /** Returns whether each of the tasks goes on. What fails for one tenant keeps no other's waiting. */
  async #promoteTenant(tenant: string, tasks: readonly DueTask[]): Promise<boolean> {
    const { ledger, log } = this.#options;
    const ids = tasks.map(({ id }) => id);
    const answers = await promoteDue(ledger, tenant, ids).catch((error: unknown) => {
      if (isRedisUnavailable(error)) throw error;
      return ids.map(() => ({ kind: 'failed', why: String(error) }) as const);
    });
    const failed = [...answers.entries()].flatMap(([position, answer]) =>
      answer.kind === 'failed' ? [{ task: ids[position], why: answer.why }] : [],
    );
    for (const each of failed) log.error({ ...each, tenant }, 'a task whose time has come could not be started');
    return failed.length === 0;
  }
}
