import { budgetFailure, reserveSpend, settleSpend, type SpendCall, type SpendPorts, type SpendSubject } from '#shared/budgets/index.ts';
import type { AgentDefinition } from '#shared/config/index.ts';
import { retryWhileAway } from '#shared/redis/index.ts';
import { knownCost, type TaskBody, type TaskUsage } from '#shared/tasks/index.ts';
import type { RunningAttempt } from './running-attempt.ts';

/** Kinds of agents whose model calls meet the budgets one by one. */
const CALLS_MODELS: ReadonlySet<AgentDefinition['kind']> = new Set(['openai', 'function']);

/** Whose spending a task's is. */
export function spendSubject({ id, tenant, agent, session, scheduleId, rootTaskId }: TaskBody): SpendSubject {
  return { tenant, agent, session, scheduleId, rootTaskId: rootTaskId ?? id };
}

interface AttemptSpendOptions {
  readonly attempt: RunningAttempt;
  readonly body: TaskBody;
}

/** AttemptSpend is responsible for what an attempt spends as a whole: it does not begin under a budget that is used up, and its cost counts once. */
export class AttemptSpend {
  readonly #options: AttemptSpendOptions;
  #call: SpendCall | undefined;

  constructor(options: AttemptSpendOptions) {
    this.#options = options;
  }

  /** Throws what ends the attempt when a budget is used up. A downgrade is for those who call models, which decide by themselves. */
  async open(ports: SpendPorts, definition: AgentDefinition): Promise<void> {
    const { attempt, body } = this.#options;
    const request = { id: `${body.id}/${attempt.ref.token}`, lease: attempt.member, subject: spendSubject(body) };
    const answer = await retryWhileAway(() => reserveSpend(ports, request, 0), { mayRetry: () => attempt.stopped === null });
    if (answer.kind === 'reserved') this.#call = answer.call;
    else if (answer.atHard !== 'downgrade' || !CALLS_MODELS.has(definition.kind)) throw budgetFailure(answer);
  }

  /** Counts what the attempt has cost besides its model calls, as far as that is known. */
  async settle(ports: SpendPorts, usage: TaskUsage | null | undefined): Promise<void> {
    const call = this.#call;
    if (!call) return;
    const mayRetry = (): boolean => this.#options.attempt.stopped?.kind !== 'lease-lost';
    await retryWhileAway(() => settleSpend(ports, call, knownCost(usage)), { mayRetry });
  }
}
