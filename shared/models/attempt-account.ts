import { HeldFailure, routeOfFailure, TaskFailure } from '../errors/index.ts';
import type { CallPermit, ProviderAccount, ProviderThrottle } from '../providers/index.ts';
import { retryWhileAway } from '../redis/index.ts';
import { timeText } from '../time/index.ts';
import { type Caller, HeldByProvider } from './call-gate.ts';

interface AttemptAccountOptions {
  readonly throttle: Pick<ProviderThrottle, 'admitCall' | 'reportRun'>;
  readonly caller: Pick<Caller, 'ref' | 'band' | 'weight'>;
  /** Ends every wait when the attempt is stopped. A function, because a signal is made only when it is read. */
  readonly signal: () => AbortSignal;
}

/** All models of a program's account: which it calls, nobody knows beforehand. */
const MODEL = 'program';

/**
 * AttemptAccount is responsible for the program of one attempt that calls a provider itself: one that finds its account's limit says so for
 * all of that account, whose tasks wait for the provider until then, and of which one tries first.
 */
export class AttemptAccount {
  readonly #options: AttemptAccountOptions;

  constructor(options: AttemptAccountOptions) {
    this.#options = options;
  }

  /**
   * Runs the program when nothing limits its account. It calls `onProvider` when its provider answers. Waits while Redis is away. Rejects with
   * a `HeldFailure` while the account has nothing left, and when the program fails for that.
   */
  async run<T>(account: ProviderAccount, work: (onProvider: () => void) => Promise<T>): Promise<T> {
    const permit = await this.#admit(account);
    let hasAnswered = false;
    const onProvider = (): void => {
      if (hasAnswered) return;
      hasAnswered = true;
      void this.#options.throttle.reportRun(permit, { kind: 'answered' });
    };
    try {
      const result = await work(onProvider);
      onProvider();
      return result;
    } catch (error) {
      if (isRefused(error)) throw await this.#hold(permit, error);
      if (!hasAnswered) await this.#options.throttle.reportRun(permit, { kind: 'unknown' });
      throw error;
    }
  }

  async #admit(account: ProviderAccount): Promise<CallPermit> {
    const { throttle, caller, signal: signalOf } = this.#options;
    const { ref: place, band, weight } = caller;
    const signal = signalOf();
    const call = { account, model: MODEL, place, band, weight, tokens: 0, isFirst: true };
    const admission = await retryWhileAway(() => throttle.admitCall(call, signal), { signal });
    if (admission.kind === 'go') return admission.permit;
    const { hold, holdMs, untilMs } = admission;
    throw new HeldByProvider('PROVIDER_QUOTA', `${account.name} has reached a limit, until ${timeText(untilMs)}`, {
      ...admission,
      hold,
      retryAfterMs: holdMs,
    });
  }

  /** What follows for the attempt: it waits, or as without a throttle while Redis is away. */
  async #hold(permit: CallPermit, failure: TaskFailure): Promise<TaskFailure> {
    const refusal = { kind: 'wall', scope: 'account', ms: failure.retryAfterMs, reason: failure.message } as const;
    const held = await this.#options.throttle.reportRun(permit, { kind: 'refused', refusal });
    if (held === null) return failure;
    const { details } = failure;
    return new HeldFailure(failure.code, failure.message, {
      hold: held.hold,
      retryAfterMs: held.holdMs,
      cause: failure,
      wasSent: true,
      ...(details === undefined ? {} : { details }),
    });
  }
}

/** Whether a program failed because its account has nothing left. */
function isRefused(error: unknown): error is TaskFailure {
  return error instanceof TaskFailure && !(error instanceof HeldFailure) && !error.isFinal && routeOfFailure(error.code) === 'wait';
}
