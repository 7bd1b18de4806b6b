import { budgetFailure, reserveSpend, settleSpend, type SpendCall, type SpendPorts, spendSubject } from '../../budgets/index.ts';
import type { AgentDefinition } from '../../config/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { knownCost, type TaskBody, type TaskUsage } from '../../tasks/index.ts';
import type { RunningAttempt } from './running-attempt.ts';

/** Kinds of agents whose model calls meet the budgets one by one. */
const CALLS_MODELS: ReadonlySet<AgentDefinition['kind']> = new Set(['openai', 'function']);

interface AttemptSpendOptions {
  readonly attempt: RunningAttempt;
  readonly body: TaskBody;
  /** The worker or hub that runs the attempt. */
  readonly holder: string;
}

/** What was reserved when the attempt began. */
interface OpenedSpend {
  readonly ports: SpendPorts;
  readonly call: SpendCall;
  /** Whether a budget that downgrades leaves it to the model calls. */
  readonly callsModels: boolean;
}

/**
 * AttemptSpend is responsible for what an attempt spends as a whole: it does not begin under a budget that is used up, is stopped when its
 * reports use one up, and its cost counts once.
 */
export class AttemptSpend {
  readonly #options: AttemptSpendOptions;
  #opened: OpenedSpend | undefined;

  constructor(options: AttemptSpendOptions) {
    this.#options = options;
  }

  /** Throws what ends the attempt when a budget is used up. A downgrade concerns model calls, which decide it themselves. */
  async open(ports: SpendPorts, definition: AgentDefinition): Promise<void> {
    const { attempt, body, holder } = this.#options;
    const callsModels = CALLS_MODELS.has(definition.kind);
    const request = { id: `${body.id}/${attempt.ref.token}`, lease: attempt.member, subject: spendSubject(body), holder };
    // Budgets that downgrade count what the attempt costs, too.
    const beyond: string[] = [];
    for (;;) {
      const answer = await retryWhileAway(() => reserveSpend(ports, { ...request, beyond }, { max: 0 }), {
        mayRetry: () => attempt.stopped === null,
      });
      if (answer.kind === 'reserved') {
        this.#opened = { ports, call: answer.call, callsModels };
        return;
      }
      if (answer.atHard !== 'downgrade' || !callsModels) throw budgetFailure(answer);
      beyond.push(answer.budget.id);
    }
  }

  /** Counts what the agent has reported so far, and stops the attempt when that uses up a budget. */
  async report(usage: TaskUsage): Promise<void> {
    if (!this.#opened) return;
    const { ports, call, callsModels } = this.#opened;
    const reached = await settleSpend(ports, call, knownCost(usage), true);
    if (!reached || (reached.atHard === 'downgrade' && callsModels)) return;
    this.#options.attempt.stop({ kind: 'failed', failure: budgetFailure(reached) });
  }

  /** Whether any budget counts what the attempt costs. */
  get isCounted(): boolean {
    return (this.#opened?.call.windows.length ?? 0) > 0;
  }

  /** Counts what the attempt has cost besides its model calls, as far as that is known. */
  async settle(usage: TaskUsage | null | undefined): Promise<void> {
    if (!this.#opened) return;
    const { ports, call } = this.#opened;
    const mayRetry = (): boolean => this.#options.attempt.stopped?.kind !== 'lease-lost';
    await retryWhileAway(() => settleSpend(ports, call, knownCost(usage)), { mayRetry });
  }
}
