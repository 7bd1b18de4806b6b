import type { Settings } from '#shared/config/index.ts';
import { type LiveDaemon, readDaemonStates, removeDaemonState, statusOf } from '#shared/daemons/index.ts';
import { publishDaemonEvent } from '#shared/events/index.ts';
import type { Log } from '#shared/log/index.ts';
import { type Keys, type RedisClient, redisNow } from '#shared/redis/index.ts';
import { Ticker } from '#shared/time/index.ts';

export interface DaemonWatchOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly log: Log;
}

/**
 * DaemonWatch is responsible for noticing daemons that were lost with their hub: their beats stopped, and no other hub took them over. APIs
 * run it, because every hub may be gone.
 */
export class DaemonWatch {
  readonly #options: DaemonWatchOptions;
  readonly #ticker: Ticker;

  constructor(options: DaemonWatchOptions) {
    this.#options = options;
    const { heartbeatMs, missedHeartbeats } = options.settings.hub;
    this.#ticker = new Ticker({
      everyMs: heartbeatMs * missedHeartbeats,
      run: () => this.check(),
      onError: (error) => options.log.debug({ err: error }, 'silent daemons cannot be read now'),
    });
  }

  start(): void {
    this.#ticker.start();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  /** Marks each silent daemon as offline, and notifies its tenant; once in the fleet. */
  async check(): Promise<void> {
    const { redis } = this.#options;
    const [live, now] = await Promise.all([readDaemonStates(this.#options), redisNow(redis)]);
    for (const daemon of live) if (statusOf(daemon.state, now) === 'offline') await this.#markOffline(daemon);
  }

  async #markOffline({ tenant, id, state: { connection, hub, name, user, tasks } }: LiveDaemon): Promise<void> {
    const { log } = this.#options;
    if (!(await removeDaemonState(this.#options, { tenant, id, connection }))) return;
    log.warn({ event: 'daemon.disconnected', daemon: id, tenant, name, hub, affectedTasks: tasks }, 'a daemon was lost with its hub');
    await publishDaemonEvent(this.#options, tenant, { event: 'daemon.disconnected', daemon: id, name, user });
  }
}
