import { hostname } from 'node:os';
import { type Config, configurationOf, releaseName } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import {
  AGENTS_KNOWN_MS,
  beatProcess,
  forgetProcesses,
  isAgentNew,
  LastingProblems,
  noteAgents,
  PROCESS_BEAT_MS,
  type ProcessIdentity,
  removeProcess,
  versionsOf,
} from '../queue/index.ts';
import { type Keys, type RedisClient, redisNow } from '../redis/index.ts';
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
  /** Called when a beat was written. */
  onWritten: () => void;
}

/** The service that runs agents. */
const WORKER = 'worker';
/** Others take a process for dead, and its agents for gone, after three beats and a half. */
const BEATS_PER_ANNOUNCEMENT = 2;
/** Between two readings of Redis's clock this process's own monotonic one goes on from there. */
const BEATS_PER_READING = 10;

/**
 * ProcessBeat is responsible for saying that this process lives, with its release, configuration and time zone data, so that processes that
 * disagree know of each other; and what has stood still in it for a while, so that no list contradicts its `/readyz`.
 */
export class ProcessBeat {
  readonly #options: ProcessBeatOptions;
  readonly #record: ProcessIdentity;
  readonly #ticker: Ticker;
  readonly #problems = new LastingProblems();
  #beats = 0;
  /** Redis's clock less this process's monotonic one, ms. */
  #offsetMs = 0;
  /** Whether problems are written that are to go once they are over. */
  #hadProblems = true;

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
      run: () => this.#beat(),
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
  async #announce(now?: number): Promise<void> {
    const { config, services } = this.#options;
    const { agents } = config.settings;
    const versions = services.includes(WORKER) ? versionsOf(agents) : undefined;
    await noteAgents(this.#options, this.#record.configuration, { agents: Object.keys(agents), versions }, now);
  }

  async #beat(): Promise<void> {
    const isReading = this.#beats % BEATS_PER_READING === 0;
    if (isReading) this.#offsetMs = (await redisNow(this.#options.redis)) - performance.now();
    const now = Math.round(performance.now() + this.#offsetMs);
    if (this.#beats % BEATS_PER_ANNOUNCEMENT === 0) await this.#announce(now);
    const problems = this.#problems.reported(await this.#options.problems(), performance.now());
    const isNoted = problems.length > 0 || this.#hadProblems;
    await beatProcess(this.#options, this.#record, isNoted ? problems : null, now);
    this.#options.onWritten();
    if (isReading) await forgetProcesses(this.#options, now);
    this.#hadProblems = problems.length > 0;
    this.#beats += 1;
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
