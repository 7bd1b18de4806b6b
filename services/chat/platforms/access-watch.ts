import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { noteRefusal } from '#shared/deliveries/index.ts';
import type { Log } from '#shared/log/index.ts';
import { systemClock, Ticker } from '#shared/time/index.ts';
import type { PlatformDriver } from './platform-driver.ts';

export interface AccessWatchOptions {
  readonly driver: Pick<PlatformDriver, 'name' | 'findRefusal'>;
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly log: Log;
}

const CHECK_MS = 300_000;

/**
 * AccessWatch is responsible for noticing that a platform refuses the bot until a person repairs it: a bad token, a missing right. It is
 * a finding of `doctor` and of "Needs attention", and ends when the platform answers again.
 */
export class AccessWatch {
  readonly #options: AccessWatchOptions;
  readonly #ticker: Ticker;
  /** Undefined before the first check. */
  #refusal: { reason: string; since: number } | null | undefined;

  constructor(options: AccessWatchOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: CHECK_MS,
      isBackground: true,
      run: async () => void (await this.check()),
      onError: (error) => options.log.debug({ err: error }, 'whether a platform knows the bot is asked later'),
    });
  }

  start(): void {
    this.#ticker.start();
    this.#ticker.tick();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  /** Why the platform refuses the bot; null when it does not, and when it cannot be asked. */
  async check(): Promise<string | null> {
    const { driver, log } = this.#options;
    const reason = await driver.findRefusal();
    if (reason !== null && reason !== this.#refusal?.reason) log.error({ event: 'chat.refused-access', reason }, reason);
    const before = this.#refusal;
    this.#refusal = reason === null ? null : { reason, since: before?.since ?? systemClock.now() };
    // What another process notes is its own to take back, unless this one is new and it died.
    if (reason !== null || before !== null) await noteRefusal(this.#options, driver.name, this.#refusal);
    return reason;
  }
}
