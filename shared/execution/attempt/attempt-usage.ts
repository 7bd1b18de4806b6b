import { readUsage } from '../../agents/index.ts';
import type { AgentLog, AgentUsage } from '../../config/index.ts';
import { type AttemptEnd, type Ledger, reportUsage, type RunningUsage } from '../../ledger/index.ts';
import { estimatedUsage, sumUsage, type TaskBody, type TaskUsage, usageRows } from '../../tasks/index.ts';
import { pricedUsage } from '../../usage/index.ts';
import type { RunningAttempt } from './running-attempt.ts';

interface AttemptUsageOptions {
  readonly ledger: Ledger;
  readonly attempt: RunningAttempt;
  readonly body: TaskBody;
  readonly log: AgentLog;
  /** Receives what each report and each call used, where it was used. */
  readonly onEach?: (used: TaskUsage) => void;
  /** Receives all that the agent of an attempt without model calls reported, after each report. */
  readonly onReport?: (reported: TaskUsage) => Promise<void>;
  /** Receives all that the attempt has used, after each report and call. */
  readonly onUsed?: (used: TaskUsage) => Promise<void>;
}

const NOTHING: TaskUsage = { inputTokens: 0, outputTokens: 0, costMicroUsd: 0 };

/**
 * AttemptUsage is responsible for what one attempt used so far, and for keeping that with the ledger while the agent runs, so that it counts
 * when this process is lost.
 */
export class AttemptUsage {
  readonly #options: AttemptUsageOptions;
  /** What the agent reported. */
  #reported: TaskUsage | null = null;
  /** What its model calls used. */
  #called: TaskUsage | null = null;
  /** How many of these there were, by model. */
  readonly #calls: Record<string, number> = {};
  #isSending = false;
  #isSent = true;

  constructor(options: AttemptUsageOptions) {
    this.#options = options;
  }

  /** Adds what an agent says that it used. Throws AGENT_ERROR when that is no usage. */
  report(used: AgentUsage): void {
    const priced = this.#price(readUsage(used));
    this.#reported = sumUsage(this.#reported, priced);
    if (!this.hasCalls) this.#options.onEach?.(priced);
    this.#changed();
  }

  /** Replaces what the agent reported by all that it has used, each of one model, as a daemon says it. */
  reportTotal(used: readonly AgentUsage[]): void {
    this.endTotal(used);
    this.#changed();
  }

  /** The same with the end of its agent. It counts with the settlement, and stops nothing: the answer is there. */
  endTotal(used: readonly AgentUsage[]): void {
    this.#reported = used.reduce<TaskUsage | null>((sum, each) => sumUsage(sum, this.#price(each)), null);
  }

  /** Begins with what another process kept of the attempt, as long as its agent says nothing. */
  resume(kept: TaskUsage | null): void {
    this.#reported = kept;
  }

  /** Adds a model call that ended. With such calls nothing else that the agent says counts: it would be the same tokens again. */
  addCall(used: AgentUsage): void {
    const model = used.model ?? '';
    this.#calls[model] = (this.#calls[model] ?? 0) + 1;
    const priced = this.#price(used);
    this.#called = sumUsage(this.#called, priced);
    this.#options.onEach?.(priced);
    this.#changed();
  }

  /** Whether it called models through the gateway. */
  get hasCalls(): boolean {
    return this.#called !== null;
  }

  /** What the attempt used in all. */
  get total(): Pick<AttemptEnd, 'usage' | 'calls'> {
    return { usage: this.#used, calls: this.#calls };
  }

  get #used(): TaskUsage | null {
    return this.#called ?? this.#reported;
  }

  #price(used: AgentUsage): TaskUsage {
    return pricedUsage(this.#options.ledger.settings.models, used);
  }

  #changed(): void {
    this.#isSent = false;
    if (!this.#isSending) void this.#send();
  }

  /** Sends the latest, one call at a time. A report that cannot be sent is lost with its process only. */
  async #send(): Promise<void> {
    const { ledger, attempt, log, onReport, onUsed } = this.#options;
    this.#isSending = true;
    try {
      while (!this.#isSent && attempt.stopped?.kind !== 'lease-lost') {
        this.#isSent = true;
        await reportUsage(ledger, attempt.ref, this.#ifLost());
        if (this.#reported && !this.hasCalls) await onReport?.(this.#reported);
        if (this.#used) await onUsed?.(this.#used);
      }
    } catch (error) {
      log.debug({ err: error }, 'a report of usage was lost');
    } finally {
      this.#isSending = false;
    }
  }

  /** What counts when this process is lost: more may have been used since. */
  #ifLost(): RunningUsage {
    const { agent, source } = this.#options.body;
    const usage = estimatedUsage(this.#used ?? NOTHING);
    return { usage, rows: usageRows({ agent, source, usage, calls: this.#calls, attempts: 1 }) };
  }
}
