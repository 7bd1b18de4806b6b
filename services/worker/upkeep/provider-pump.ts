import type { Ledger } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import { type ProviderThrottle, releaseWaiting } from '#shared/providers/index.ts';
import { Ticker } from '#shared/time/index.ts';

export interface ProviderPumpOptions {
  ledger: Ledger;
  worker: string;
  throttle: Pick<ProviderThrottle, 'notify'>;
  log: Log;
}

/** The right to release lasts for so many rounds; then another worker takes over. */
const LEASE_ROUNDS = 4;
/** Rounds between two checks of a worker that knows of no waiting task. */
const IDLE_ROUNDS = 20;
/**
 * Rounds between two checks while another worker releases. With the lease, a killed worker is missed for less than the horizon and a small
 * burst make up for.
 */
const OTHERS_ROUNDS = 2;

/**
 * ProviderPump is responsible for releasing the tasks that wait for a provider when their calls may go soon. Every worker checks; one of
 * them releases.
 */
export class ProviderPump {
  readonly #options: ProviderPumpOptions;
  readonly #ticker: Ticker;
  #skip = 0;

  constructor(options: ProviderPumpOptions) {
    this.#options = options;
    this.#ticker = new Ticker({
      everyMs: options.ledger.settings.throttle.pumpMs,
      run: () => this.#round(),
      onError: (error) => options.log.debug({ err: error }, 'tasks that wait for a provider could not be released now'),
    });
  }

  start(): void {
    this.#options.throttle.notify(() => {
      this.#skip = 0;
    });
    this.#ticker.start();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  async #round(): Promise<void> {
    if (this.#skip > 0) {
      this.#skip -= 1;
      return;
    }
    const { redis, keys } = this.#options.ledger;
    const mayWait = (await redis.exists(keys.fleet.throttleWaits)) === 1;
    this.#skip = mayWait ? OTHERS_ROUNDS : IDLE_ROUNDS;
    if (!mayWait || !(await this.#lease())) return;
    this.#skip = 0;
    await releaseWaiting(this.#options.ledger);
  }

  async #lease(): Promise<boolean> {
    const { ledger, worker } = this.#options;
    const { redis, keys, settings } = ledger;
    const leaseMs = settings.throttle.pumpMs * LEASE_ROUNDS;
    const key = keys.fleet.throttlePump;
    if ((await redis.set(key, worker, 'PX', leaseMs, 'NX')) === 'OK') return true;
    if ((await redis.get(key)) !== worker) return false;
    await redis.pexpire(key, leaseMs);
    return true;
  }
}
