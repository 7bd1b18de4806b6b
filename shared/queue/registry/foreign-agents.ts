import type { Log } from '../../log/index.ts';
import { type Keys, type RedisClient, redisNow } from '../../redis/index.ts';
import { listProcesses, SILENT_MS } from './process-registry.ts';

interface AgentPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** After that the workers of other configurations know of an agent: what they know when they claim is a second old at most. */
export const AGENTS_KNOWN_MS = 1200;
const FRESH_MS = 1000;
/** Announcements that are kept: those of a rolling deploy, and of some before. */
const MAX_KEPT = 40;

/** What a process says of its configuration. */
interface Announcement {
  agents?: readonly string[];
  /** Of a worker: runs that began with these versions go on there. */
  versions?: readonly string[] | undefined;
}

/** Writes which agents the configuration of a process has, and which versions its workers, at a time of Redis's clock. */
export async function noteAgents(
  { redis, keys }: AgentPorts,
  configuration: string,
  { agents, versions }: Announcement,
  now?: number,
): Promise<void> {
  const at = now ?? (await redisNow(redis));
  const fields = { [configuration]: agents, [`${configuration}${OF_WORKERS}`]: versions };
  const noted = Object.entries(fields).flatMap(([name, listed]) => (listed ? [[name, `${at} ${listed.join(',')}`] as const] : []));
  await redis.hset(keys.fleet.configuredAgents, Object.fromEntries(noted));
}

/** Versions of agents that a configuration names, as they are compared. */
export function versionsOf(agents: Readonly<Record<string, { version?: string | undefined }>>): string[] {
  return Object.entries(agents).flatMap(([name, { version }]) => (version === undefined ? [] : [versionName(name, version)]));
}

function versionName(agent: string, version: string): string {
  return `${agent}@${version}`;
}

const OF_WORKERS = ' worker';

/** Of the configurations of workers that live: how many have a version of an agent, and how many have not. */
export async function countVersion(
  { redis, keys }: AgentPorts,
  agent: string,
  version: string,
): Promise<{ having: number; others: number }> {
  const [found, now] = await Promise.all([redis.hgetall(keys.fleet.configuredAgents), redisNow(redis)]);
  const live = Object.entries(found).flatMap(([configuration, text]) => {
    const announced = parse(configuration, text);
    return configuration.endsWith(OF_WORKERS) && now - announced.at < SILENT_MS ? [announced.agents] : [];
  });
  const having = live.filter((versions) => versions.includes(versionName(agent, version))).length;
  return { having, others: live.length - having };
}

/** Whether a process with another configuration lives that has not all of these agents: until it knows of them, it may claim their tasks. */
export async function isAgentNew(ports: AgentPorts, configuration: string, agents: readonly string[]): Promise<boolean> {
  const [processes, found] = await Promise.all([listProcesses(ports), ports.redis.hgetall(ports.keys.fleet.configuredAgents)]);
  const others = new Set(processes.map((process) => process.configuration).filter((other) => other !== configuration));
  return [...others].some((other) => {
    const known = parse(other, found[other] ?? '').agents;
    return agents.some((agent) => !known.includes(agent));
  });
}

interface ForeignAgentsOptions extends AgentPorts {
  /** The agents of this process's configuration, and their versions. */
  own: readonly string[];
  log: Log;
}

/**
 * ForeignAgents is responsible for which agents, and versions of them, other configurations have and this process lacks, so that a worker of the release before
 * leaves the tasks of a new agent to those that can run them, and each leaves runs that began with another version to those that have it.
 */
export class ForeignAgents {
  readonly #options: ForeignAgentsOptions;
  #text = '';
  /** Monotonic, ms. */
  #readAt = -Infinity;

  constructor(options: ForeignAgentsOptions) {
    this.#options = options;
  }

  /** As claims take them: between commas, empty for none. */
  get text(): string {
    return this.#text;
  }

  /** Whether a claim has to wait for the next reading. */
  get isOld(): boolean {
    return performance.now() - this.#readAt > FRESH_MS;
  }

  /** Answers whether Redis did. Never rejects. */
  async refresh(): Promise<boolean> {
    const { redis, keys, own, log } = this.#options;
    const readAt = performance.now();
    try {
      const [found, now] = await Promise.all([redis.hgetall(keys.fleet.configuredAgents), redisNow(redis)]);
      this.#readAt = readAt;
      const all = Object.entries(found).map(([configuration, text]) => parse(configuration, text));
      const live = all.filter(({ at }) => now - at < SILENT_MS);
      const foreign = new Set(live.flatMap(({ agents }) => agents.filter((agent) => !own.includes(agent))));
      this.#text = foreign.size === 0 ? '' : `,${[...foreign].join(',')},`;
      const old = all.toSorted((one, other) => other.at - one.at).slice(MAX_KEPT);
      if (old.length > 0) await redis.hdel(keys.fleet.configuredAgents, ...old.map(({ configuration }) => configuration));
      return true;
    } catch (error) {
      log.debug({ err: error }, 'the agents of other configurations cannot be read now');
      return false;
    }
  }
}

function parse(configuration: string, text: string): { configuration: string; at: number; agents: string[] } {
  const [at = '0', agents = ''] = text.split(' ');
  return { configuration, at: Number(at), agents: agents === '' ? [] : agents.split(',') };
}
