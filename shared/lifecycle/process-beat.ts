import { hostname } from 'node:os';
import { type Config, configurationOf, releaseName } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import {
  AGENTS_KNOWN_MS,
  beatProcess,
  isAgentNew,
  noteAgents,
  noteVersions,
  PROCESS_BEAT_MS,
  type ProcessIdentity,
  removeProcess,
  versionsOf,
} from '../queue/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import type { Seal } from '../tenants/index.ts';
import { isOlderZoneData, LEAST_ZONE_DATA, Ticker, wait, within, ZONE_DATA } from '../time/index.ts';

interface ProcessBeatOptions {
  redis: RedisClient;
  keys: Keys;
  config: Config;
  seal: Seal;
  log: Log;
  /** What names the process, and the services in it. */
  name: string;
  services: readonly string[];
  /** What keeps the process from taking work, as its `/readyz` has it. */
  problems: () => Promise<readonly string[]>;
}

/** The service that runs agents. */
const WORKER = 'worker';

/**
 * ProcessBeat is responsible for saying that this process lives, with its release, configuration and time zone data, so that processes that
 * disagree know of each other; and what stands still in it, so that no list contradicts its `/readyz`.
 */
export class ProcessBeat {
  readonly #options: ProcessBeatOptions;
  readonly #record: ProcessIdentity;
  readonly #ticker: Ticker;

  constructor(options: ProcessBeatOptions) {
    const { config, log, name, services, seal } = options;
    this.#options = options;
    this.#record = {
      id: `${name}@${hostname()}:${process.pid}`,
      services: [...services],
      startedAt: Date.now(),
      release: releaseName(config.env),
      configuration: configurationOf(config),
      zoneData: ZONE_DATA,
      ...(seal.keyId !== null && { sealKey: seal.keyId }),
    };
    this.#ticker = new Ticker({
      everyMs: PROCESS_BEAT_MS,
      run: async () => {
        await this.#announce();
        await beatProcess(options, this.#record, await options.problems());
      },
      onError: (error) => log.debug({ err: error }, 'the beat of this process failed'),
    });
  }

  /**
   * Says which agents this process has before it takes work. In a rolling deploy that brings an agent, workers of the release before then leave
   * its tasks to others from the first one on. A Redis that does not answer is not waited for.
   */
  async announceAgents(): Promise<void> {
    const { config, log } = this.#options;
    const agents = Object.keys(config.settings.agents);
    const announce = async (): Promise<boolean> => {
      await this.#announce();
      return await isAgentNew(this.#options, this.#record.configuration, agents);
    };
    const announcing = announce().catch((error: unknown) => {
      log.debug({ err: error }, 'the agents of this process could not be announced');
      return false;
    });
    if ((await within(announcing, AGENTS_KNOWN_MS)) === true) await wait(AGENTS_KNOWN_MS);
  }

  /** Its agents; and of a worker their versions, too, with which runs of its own go on. */
  async #announce(): Promise<void> {
    const { config, services } = this.#options;
    const { configuration } = this.#record;
    await noteAgents(this.#options, configuration, Object.keys(config.settings.agents));
    if (services.includes(WORKER)) await noteVersions(this.#options, configuration, versionsOf(config.settings.agents));
  }

  start(): void {
    if (isOlderZoneData(ZONE_DATA, LEAST_ZONE_DATA)) this.#warn();
    this.#ticker.start();
    this.#ticker.tick();
  }

  async stop(): Promise<void> {
    const { log } = this.#options;
    await this.#ticker.stop();
    await removeProcess(this.#options, this.#record).catch((error: unknown) => log.debug({ err: error }, 'others will miss the beat'));
  }

  #warn(): void {
    const reason = `Node ${process.versions.node} has ${ZONE_DATA || 'none'}, and ${LEAST_ZONE_DATA} is needed`;
    this.#options.log.warn({ event: 'zone-data.old', reason }, 'the time zone data is old: schedules of some zones fire an hour off');
  }
}
