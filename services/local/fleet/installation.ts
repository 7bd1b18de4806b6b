import { toMusterError } from '#shared/http/index.ts';
import { type Parts, type Service, watchInstallation } from '#shared/lifecycle/index.ts';
import type { Log } from '#shared/log/index.ts';
import { assertInstallation, assertServer, isRedisUnavailable, noteRefusal, refusalOf, retryWhileAway } from '#shared/redis/index.ts';
import { ensureFirstKey } from '#shared/tenants/index.ts';

interface InstallationOptions {
  /** Called with a new first admin key before anything else can fail, because it cannot be read again. */
  onNewKey: (key: string) => void;
  /** Ends the wait for Redis. */
  signal: AbortSignal;
  log: Log;
}

type InstallationPorts = Pick<Parts, 'redis' | 'keys' | 'config' | 'settings' | 'log' | 'fail' | 'changes'>;

/**
 * Installation is responsible for the data in Redis being this fleet's before its services start: checked, and with a first key. While
 * Redis does not answer, or refuses, it says why and waits. Should a newer release take the data over, the process ends.
 */
export class Installation {
  readonly #options: InstallationOptions;
  #isOpen = false;

  constructor(options: InstallationOptions) {
    this.#options = options;
  }

  /** Opens it if Redis can be used now. Throws `config.invalid` for data of another form, and where work is not safe. */
  async prepare(parts: InstallationPorts): Promise<void> {
    try {
      await this.#open(parts);
    } catch (error) {
      if (!isRedisUnavailable(error)) throw error;
      noteRefusal(parts.config.env.REDIS_URL, refusalOf(error), this.#options.log);
      const { message } = toMusterError(error);
      const reason = `${message} (${error instanceof Error ? error.message : String(error)})`;
      const advice = 'Check REDIS_URL and that server, or unset it for a Redis that Muster runs itself';
      this.#options.log.warn({ event: 'redis.awaited', reason }, `The fleet waits for Redis and answers with 503 until then. ${advice}`);
    }
  }

  /** The service that starts once it is open. */
  service(parts: InstallationPorts): Service {
    const { signal } = this.#options;
    const stopping = new AbortController();
    let watching = Promise.resolve();
    const start = async (): Promise<void> => {
      try {
        if (!this.#isOpen) await retryWhileAway(() => this.#open(parts), { signal });
        watching = watchInstallation(parts, stopping.signal).catch(parts.fail);
      } catch (error) {
        // The services start all the same, to be stopped in their order.
        if (!signal.aborted) throw error;
      }
    };
    const stop = async (): Promise<void> => {
      stopping.abort();
      await watching;
    };
    return { name: 'installation', start, stop };
  }

  async #open(parts: InstallationPorts): Promise<void> {
    await assertServer(parts);
    await assertInstallation(parts);
    const newKey = await ensureFirstKey(parts);
    if (newKey !== null) this.#options.onNewKey(newKey);
    this.#isOpen = true;
  }
}
