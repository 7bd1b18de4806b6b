import { randomBytes } from 'node:crypto';
import type { Log } from '../log/index.ts';
import type { PriorityBand } from '../tasks/index.ts';
import { type Clock, Ticker, wait } from '../time/index.ts';
import { throttleId } from './account.ts';
import { type ProviderAnswer, readLimits, readRefusal } from './read-answer.ts';
import {
  admitCall,
  type Because,
  keysOf,
  reportCall,
  type ThrottleBand,
  type ThrottledModel,
  type ThrottlePorts,
} from './throttle-scripts.ts';

/** A call of a model that wants to go. */
export interface ModelCall extends ThrottledModel {
  readonly place: { readonly tenant: string; readonly id: string; readonly token: number };
  readonly band: PriorityBand;
  /** The tenant's. */
  readonly weight: number;
  /** Of the input, and of the output at most. */
  readonly tokens: number;
  /** Whether it is its attempt's first, which may give its slot back. */
  readonly isFirst: boolean;
}

/** The permission of one call. Whoever has it reports its end. */
export interface CallPermit extends ThrottledModel {
  readonly id: string;
  /** When it could go, by Redis's clock, ms. */
  readonly at: number;
  readonly tokens: number;
}

export type Admission =
  | { kind: 'go'; permit: CallPermit }
  | {
      kind: 'wait';
      because: Because;
      /** What the provider's error named. */
      scope: 'model' | 'account' | 'endpoint';
      /** When it may go at the earliest, by Redis's clock, ms. */
      untilMs: number;
      /** How its task waits in the ledger, at most for so long. */
      hold: { gate: 'provider'; what: string };
      holdMs: number;
    };

/** How a call ended. */
export interface CallReport extends ProviderAnswer {
  /** Tokens that it used; undefined when unknown. None without a status: it was never made, and gives its place back. */
  readonly tokens?: number | undefined;
}

export interface ProviderThrottleOptions extends ThrottlePorts {
  readonly clock: Clock;
  readonly log: Log;
}

/** A lease is renewed so often while it lasts. */
const RENEWALS = 3;

/**
 * ProviderThrottle is responsible for this process's calls of models: each goes when the throttle that the fleet shares lets it, and
 * counts there until its end.
 */
export class ProviderThrottle {
  readonly #options: ProviderThrottleOptions;
  readonly #permits = new Map<string, CallPermit>();
  readonly #ticker: Ticker;
  #onWaiting: (() => void) | undefined;
  /** Redis's time less the monotonic one, as the last admission showed it. */
  #skewMs = 0;

  constructor(options: ProviderThrottleOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: Math.ceil(options.settings.throttle.callLeaseMs / RENEWALS),
      isBackground: true,
      run: () => this.#renew(),
      onError: (error) => options.log.debug({ err: error }, 'the leases of model calls are renewed with the next round'),
    });
  }

  /** Calls `onWaiting` when a task has to wait for a provider, or one ends for which some wait. */
  notify(onWaiting: () => void): void {
    this.#onWaiting = onWaiting;
  }

  start(): void {
    this.#ticker.start();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  /**
   * Resolves when the call may go, or has to wait for longer than it may in its slot; then its task is to be held as the answer says.
   * Rejects with the signal's reason when it aborts, and while Redis is away.
   */
  async admitCall(call: ModelCall, signal: AbortSignal): Promise<Admission> {
    const { clock, settings } = this.#options;
    const { maxInSlotWaitMs, maxCallWaitMs } = settings.throttle;
    const id = permitName(call, clock.now());
    const givesUpAt = clock.monotonic() + (call.isFirst ? maxInSlotWaitMs : maxCallWaitMs);
    for (;;) {
      const answer = await this.#ask(call, id, Math.max(0, Math.round(givesUpAt - clock.monotonic())));
      const [kind] = answer;
      if (kind === 'go') return await this.#waitForTurn({ ...call, id, at: answer[1] }, answer[1] - answer[2], signal);
      const [, because, untilMs, nowMs, scope, isOver] = answer;
      if (isOver === 1) return this.#held(call, { because, untilMs, scope });
      await wait(Math.max(1, untilMs - nowMs), signal);
      signal.throwIfAborted();
    }
  }

  /** Ends a call: its tokens are corrected, and what its answer says holds for the whole fleet from now on. Never rejects. */
  async reportCall(permit: CallPermit, report: CallReport): Promise<void> {
    const { clock } = this.#options;
    const { status, tokens } = report;
    const isAnswered = status !== undefined && status < 400;
    const block = readRefusal(report, clock.now()) ?? undefined;
    if (status === undefined && tokens === 0) return await this.#report(permit, { isUnused: true });
    await this.#report(permit, { ...readLimits(report, clock.now()), used: tokens, isAnswered, block });
  }

  async #ask(call: ModelCall, permit: string, leftMs: number): ReturnType<typeof admitCall> {
    const { place, band, weight, isFirst } = call;
    const input = { permit, tenant: place.tenant, band: throttleBand(band), weight, tokens: Math.ceil(call.tokens), isFirst, leftMs };
    const answer = await admitCall(this.#options, call, { ...input, isReturning: place.token > 1 });
    this.#skewMs = (answer[0] === 'go' ? answer[2] : answer[3]) - this.#options.clock.monotonic();
    return answer;
  }

  async #waitForTurn(call: ModelCall & { id: string; at: number }, ms: number, signal: AbortSignal): Promise<Admission> {
    const { account, model, id, at, tokens } = call;
    const permit: CallPermit = { account, model, id, at, tokens: Math.ceil(tokens) };
    this.#permits.set(id, permit);
    if (ms > 0) await wait(ms, signal);
    if (signal.aborted) {
      await this.#report(permit, { isUnused: true });
      throw signal.reason;
    }
    return { kind: 'go', permit };
  }

  #held(call: ModelCall, reason: { because: Because; untilMs: number; scope: 'model' | 'account' | 'endpoint' }): Admission {
    const what = throttleId(call.account, call.model);
    this.#onWaiting?.();
    return { kind: 'wait', ...reason, hold: { gate: 'provider', what }, holdMs: this.#options.settings.throttle.maxHoldMs };
  }

  async #report(permit: CallPermit, report: Omit<Parameters<typeof reportCall>[2], 'permit' | 'at' | 'booked'>): Promise<void> {
    const { log } = this.#options;
    const { id, at, tokens, account, model } = permit;
    this.#permits.delete(id);
    try {
      const [othersWait, rose, fell] = await reportCall(this.#options, permit, { permit: id, at, booked: tokens, ...report });
      const fields = { account: account.name, model, scope: report.block?.scope, reason: report.block?.reason };
      if (othersWait) this.#onWaiting?.();
      if (rose) log.warn({ event: 'provider.walled', ...fields }, 'a provider takes no more calls; one call tries again for all');
      if (fell) log.info({ event: 'provider.reopened', account: account.name, model }, 'a provider takes calls again');
    } catch (error) {
      log.debug({ err: error }, 'the end of a model call was not counted; its lease ends by itself');
    }
  }

  async #renew(): Promise<void> {
    const { redis, clock, settings } = this.#options;
    const until = Math.round(clock.monotonic() + this.#skewMs + settings.throttle.callLeaseMs);
    const byKey = Map.groupBy(this.#permits.values(), (permit) => keysOf(this.#options, permit).calls);
    await Promise.all([...byKey].map(([key, permits]) => redis.zadd(key, 'XX', 'GT', ...permits.flatMap(({ id }) => [until, id]))));
  }
}

/** Names sort by precedence: later calls of attempts before first ones, then by arrival. */
function permitName({ isFirst, place }: ModelCall, nowMs: number): string {
  const arrival = `${nowMs}`.padStart(15, '0');
  return `${isFirst ? 1 : 0}${arrival}/${place.tenant}/${place.id}/${place.token}/${randomBytes(4).toString('hex')}`;
}

function throttleBand(band: PriorityBand): ThrottleBand {
  return band === 'critical' ? 'high' : band;
}
