import { TaskFailure } from '../../errors/index.ts';
import { countTokens, type Ledger, readTokens, type TreeRoot } from '../../ledger/index.ts';
import type { TaskBody, TaskUsage } from '../../tasks/index.ts';
import type { RunningAttempt } from './running-attempt.ts';

interface AttemptTokensOptions {
  readonly ledger: Ledger;
  readonly attempt: RunningAttempt;
  readonly body: TaskBody;
}

/**
 * AttemptTokens is responsible for what an attempt adds to the tokens of its root task: it does not begin once these are used up, and is stopped
 * by the report that uses them up. Without a bound it costs no round trip.
 */
export class AttemptTokens {
  readonly #options: AttemptTokensOptions;
  readonly #place: TreeRoot;

  constructor(options: AttemptTokensOptions) {
    const { tenant, id, rootTaskId } = options.body;
    this.#options = options;
    this.#place = { tenant, root: rootTaskId ?? id };
  }

  get #max(): number {
    return this.#options.ledger.settings.runaways.maxTokens;
  }

  /** Whether the tokens of a task and of what it leads to are bounded. */
  get isCounted(): boolean {
    return this.#max > 0;
  }

  /** Errors: RUNAWAY when the root and all that it led to have used what they may. */
  async assertSome(): Promise<void> {
    const used = await readTokens(this.#options.ledger, this.#place);
    if (used >= this.#max) throw this.#failure(used);
  }

  /** Counts what the attempt has used so far, and stops it when that was the last. */
  async report(usage: TaskUsage): Promise<void> {
    const used = await this.settle(usage);
    if (this.isCounted && used >= this.#max) this.#options.attempt.stop({ kind: 'failed', failure: this.#failure(used) });
  }

  /** Counts what the attempt has used in all. Returns the tokens of all attempts under its root; 0 where they are not counted. */
  async settle(usage: TaskUsage | null | undefined): Promise<number> {
    if (!this.isCounted || !usage) return 0;
    const { ledger, attempt } = this.#options;
    return await countTokens(ledger, this.#place, attempt.ref, usage.inputTokens + usage.outputTokens);
  }

  #failure(used: number): TaskFailure {
    return new TaskFailure('RUNAWAY', `Runaway: task ${this.#place.root} and what it led to used ${used} tokens, and may use ${this.#max}`);
  }
}
