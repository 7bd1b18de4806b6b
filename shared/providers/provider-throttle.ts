import type { Settings } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import type { LocalCounts } from '../metrics/index.ts';
import { type Clock, Ticker, wait } from '../time/index.ts';
import { accountLabel, throttleId } from './account.ts';
import {
  type Admission,
  type CallHold,
  type CallPermit,
  type CallReport,
  flowOf,
  type ModelCall,
  permitName,
  type RunReport,
  type WaitingPlace,
} from './model-call.ts';
import { modelLabels } from './model-labels.ts';
import { readLimits, readRefusal } from './answers/index.ts';
import { admitCall, keysOf, type ReportInput, reportCall, settleRelease, type ThrottlePorts } from './throttle-scripts.ts';

export interface ProviderThrottleOptions extends ThrottlePorts {
  readonly settings: ThrottlePorts['settings'] & Pick<Settings, 'models' | 'agents'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: Pick<LocalCounts, 'modelCalled'>;
}

/** A lease is renewed so often while it lasts. */
const RENEWALS = 3;

/**
 * ProviderThrottle is responsible for this process's calls of models: each is made when the fleet's throttle admits it, and
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
      if (isOver === 1) {
        this.#onWaiting?.();
        return { kind: 'wait', ...this.#holdFor({ ...call, flow: flowOf(call) }, { because, untilMs, scope }) };
      }
      await wait(Math.max(1, untilMs - nowMs), signal);
      signal.throwIfAborted();
    }
  }

  /**
   * Ends a call: its tokens are corrected, and what its answer says holds for the whole fleet from now on. Resolves with how its task waits
   * when the provider refused it, else with null. Never rejects.
   */
  async reportCall(permit: CallPermit, report: CallReport): Promise<CallHold | null> {
    const { clock, counts, settings } = this.#options;
    const { status, tokens, sentAt, beganAfterMs } = report;
    const isAnswered = status !== undefined && status < 400;
    const block = readRefusal(report, clock.now()) ?? undefined;
    if (status === undefined && tokens === 0) return await this.#report(permit, { isUnused: true });
    counts.modelCalled(modelLabels(settings, permit), block ? 'refused' : isAnswered ? 'answered' : 'failed');
    const sent =
      sentAt === undefined ? {} : { sentAgoMs: Math.round(clock.monotonic() - sentAt), beganAfterMs: Math.round(beganAfterMs ?? 0) };
    return await this.#report(permit, { ...readLimits(report, clock.now()), used: tokens, isAnswered, block, ...sent });
  }

  /**
   * Ends the run of a program that calls its provider itself, or says what came of it so far. Resolves with how its task waits when the
   * provider refused it, else with null. Never rejects.
   */
  async reportRun(permit: CallPermit, end: RunReport): Promise<CallHold | null> {
    if (end.kind === 'unknown') return await this.#report(permit, { isUnused: true });
    return await this.#report(permit, end.kind === 'refused' ? { block: end.refusal } : { isAnswered: true });
  }

  /** The task of a call that had to wait goes on otherwise, and leaves its place to others. Never rejects. */
  async leave({ flow, ...target }: WaitingPlace): Promise<void> {
    try {
      await settleRelease(this.#options, target, flow.tenant, { released: [flow], missing: [] });
    } catch (error) {
      this.#options.log.debug({ err: error }, 'a place among those that wait for a provider is left by itself');
    }
  }

  async #ask(call: ModelCall, permit: string, leftMs: number): ReturnType<typeof admitCall> {
    const { place, isFirst } = call;
    const input = { ...flowOf(call), permit, tokens: Math.ceil(call.tokens), isFirst, leftMs };
    const answer = await admitCall(this.#options, call, { ...input, isReturning: place.token > 1 });
    this.#skewMs = (answer[0] === 'go' ? answer[2] : answer[3]) - this.#options.clock.monotonic();
    return answer;
  }

  async #waitForTurn(call: ModelCall & { id: string; at: number }, ms: number, signal: AbortSignal): Promise<Admission> {
    const { account, model, id, at, tokens } = call;
    const permit: CallPermit = { account, model, id, at, tokens: Math.ceil(tokens), flow: flowOf(call) };
    this.#permits.set(id, permit);
    if (ms > 0) await wait(ms, signal);
    if (signal.aborted) {
      await this.#report(permit, { isUnused: true });
      throw signal.reason;
    }
    return { kind: 'go', permit };
  }

  #holdFor({ account, model, flow }: WaitingPlace, reason: Pick<CallHold, 'because' | 'untilMs' | 'scope'>): CallHold {
    const hold = { gate: 'provider', what: throttleId(account, model) } as const;
    return { ...reason, hold, holdMs: this.#options.settings.throttle.maxHoldMs, place: { account, model, flow } };
  }

  async #report(permit: CallPermit, report: Omit<ReportInput, 'permit' | 'at' | 'booked' | 'flow'>): Promise<CallHold | null> {
    const { log } = this.#options;
    const { id, at, tokens, account, model, flow } = permit;
    const { block } = report;
    this.#permits.delete(id);
    try {
      const [othersWait, rose, fell, untilMs] = await reportCall(this.#options, permit, {
        permit: id,
        at,
        booked: tokens,
        flow,
        ...report,
      });
      const fields = { account: accountLabel(account), model, scope: block?.scope, reason: block?.reason };
      if (othersWait) this.#onWaiting?.();
      if (rose) log.warn({ event: 'provider.walled', ...fields }, 'a provider takes no more calls; one call tries again for all');
      if (fell) log.info({ event: 'provider.reopened', account: accountLabel(account), model }, 'a provider takes calls again');
      return block ? this.#holdFor(permit, { because: block.kind, untilMs, scope: block.scope }) : null;
    } catch (error) {
      log.debug({ err: error }, 'the end of a model call was not counted; its lease expires');
      return null;
    }
  }

  async #renew(): Promise<void> {
    const { redis, clock, settings } = this.#options;
    const until = Math.round(clock.monotonic() + this.#skewMs + settings.throttle.callLeaseMs);
    const byKey = Map.groupBy(this.#permits.values(), (permit) => keysOf(this.#options, permit).calls);
    await Promise.all([...byKey].map(([key, permits]) => redis.zadd(key, 'XX', 'GT', ...permits.flatMap(({ id }) => [until, id]))));
  }
}
