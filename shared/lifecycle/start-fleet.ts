import { type Config, releaseName } from '../config/index.ts';
import { StorageWatch } from '../files/index.ts';
import { startHttpServer } from '../http/index.ts';
import { type Log, openTraces } from '../log/index.ts';
import { findDeadShards, findUnopenedQueues } from '../queue/index.ts';
import { ConnectionWatch, connectRedis, describeRefusal, type Refusal, noteRefusal, probeRefusal } from '../redis/index.ts';
import { openParts, type Parts, WITHOUT_FILES } from './open-parts.ts';
import { ProcessBeat } from './process-beat.ts';
import { processMetrics } from './process-metrics.ts';
import { problemsOf, serve, type Served, type Service } from './service.ts';

export interface StartFleetOptions {
  /** Names the connections to Redis. */
  name: string;
  config: Config;
  log: Log;
  /** The services of this process, in the order in which they start. */
  create: (parts: Parts) => readonly Service[];
  /** Done once Redis can be used and before any service starts. */
  prepare?: (parts: Parts) => Promise<void>;
  /** What ends the process when it cannot go on. */
  fail: (error: Error) => void;
  /** What ends the process when its work is done; by default it goes on. */
  finish?: () => void;
}

/** Opens the connections, starts the services and the server in front of them; closes again what it opened when that fails. */
export async function startFleet({ name, config, log, create, prepare, fail, finish }: StartFleetOptions): Promise<Served> {
  const traces = await openTraces({ env: config.env, service: name, log });
  const parts = await openParts({ config, log, service: name, fail, finish, traces });
  const watch = watchConnection(parts, name);
  const storages = watchStorages(parts, name);
  try {
    await prepare?.(parts);
    const registries = [processMetrics(parts.redis, releaseName(config.env), traces)];
    const readRedisProblems = (): Promise<string[]> => redisProblems(parts, watch);
    const services = create(parts);
    const problems = (): Promise<string[]> => problemsOf(services, () => knownProblems(parts, watch));
    const onWritten = (): void => watch.noteWrite();
    const beat = new ProcessBeat({ ...parts, name, services: services.map((service) => service.name), problems, onWritten });
    await beat.announceAgents();
    beat.start();
    const served = await serve({
      config,
      log,
      services,
      registries,
      startHttpServer,
      redisProblems: readRedisProblems,
      warnings: () => redisWarnings(watch),
    }).catch(async (error: unknown) => {
      await beat.stop();
      throw error;
    });
    return {
      port: served.port,
      stop: async (graceMs) => {
        await served.stop(graceMs);
        await beat.stop();
        await Promise.all(storages.map((storage) => storage.stop()));
        watch.stop();
        await parts.close();
        await traces?.close();
      },
    };
  } catch (error) {
    await Promise.all(storages.map((storage) => storage.stop()));
    watch.stop();
    await parts.close();
    await traces?.close();
    throw error;
  }
}

type StorageWatchPorts = Pick<Parts, 'redis' | 'keys' | 'log' | 'files' | 'archive'>;

/** Watches where this process stores files, and where it archives old tasks; it may do neither. */
function watchStorages({ redis, keys, log, files, archive }: StorageWatchPorts, name: string): readonly StorageWatch[] {
  const ports = { redis, keys, log };
  const watches = [
    ...(WITHOUT_FILES.has(name) ? [] : [new StorageWatch({ ...ports, kind: 'files', identify: () => files.identify() })]),
    ...(archive === undefined ? [] : [new StorageWatch({ ...ports, kind: 'archive', identify: () => archive.identify() })]),
  ];
  for (const watch of watches) watch.start();
  return watches;
}

type WatchPorts = Pick<Parts, 'redis' | 'keys' | 'config' | 'log' | 'fail'>;

function watchConnection({ redis, keys, config, log, fail }: WatchPorts, name: string): ConnectionWatch {
  // The connection itself says once that Redis is away.
  const { REDIS_URL: url } = config.env;
  const watch = new ConnectionWatch({
    redis,
    keys,
    open: () => connectRedis({ url, name, clientName: `muster:${name}-look`, log, role: 'look' }),
    probe: () => probeRefusal(url),
    onRefusal: (refusal) => noteRefusal(url, refusal, log),
    settings: config.settings.consumers,
    fail,
  });
  watch.start();
  return watch;
}

/** A full memory is repaired through the API, which has to be reached for that. */
const READY_WITH = 'OOM';

/** No probe hides what `npx muster doctor` fails on. */
function redisWarnings({ refusal }: Pick<ConnectionWatch, 'refusal'>): string[] {
  return refusal?.word === READY_WITH ? [refusalText(refusal)] : [];
}

function refusalText(refusal: Refusal): string {
  return `Redis refuses commands: ${describeRefusal(refusal)}`;
}

type ReadyPorts = Pick<Parts, 'queues' | 'events'>;

/** What is known without asking Redis: the beat that says so is written there. */
async function knownProblems({ queues, events }: ReadyPorts, { refusal }: Pick<ConnectionWatch, 'refusal'>): Promise<string[]> {
  if (refusal !== null && refusal.word !== READY_WITH) return [refusalText(refusal)];
  return [...(await findUnopenedQueues(queues)), ...(events.problem === null ? [] : [events.problem])];
}

async function redisProblems(ports: ReadyPorts, watch: Pick<ConnectionWatch, 'refusal'>): Promise<string[]> {
  const known = await knownProblems(ports, watch);
  if (watch.refusal !== null && watch.refusal.word !== READY_WITH) return known;
  const dead = await findDeadShards(ports.queues);
  if (dead.length === ports.queues.shards) return ['Redis does not answer'];
  return [...dead, ...known];
}
