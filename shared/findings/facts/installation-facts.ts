import { hostname } from 'node:os';
import { readKnownDaemons, statusOf } from '../../daemons/index.ts';
import { readRefusals, readUnfollowedEnds, readWaitingDeliveries } from '../../deliveries/index.ts';
import { readStorages } from '../../files/index.ts';
import { countAllHeldByGate, countSuspendedVersions } from '../../ledger/index.ts';
import { createLog } from '../../log/index.ts';
import { listThrottles } from '../../providers/index.ts';
import { listProcesses, listWorkers, type Queues, readChores, readUnserved, type RegistryPorts } from '../../queue/index.ts';
import {
  clockSkew,
  installationProblem,
  readDataForm,
  readEvictionPolicy,
  readForeignProcesses,
  readMemory,
  type Refusal,
  redisNow,
  refusalOf,
  scriptsProblem,
} from '../../redis/index.ts';
import { DEFAULT_TENANT, FleetLimitsDirectory, type Seal } from '../../tenants/index.ts';
import type { Clock } from '../../time/index.ts';
import { readReceivers } from '../alerts/receiver-store.ts';
import { once } from '../inspection.ts';
import { readSecrets } from './secrets.ts';
import { type RecordScope, readUnreadable } from './unreadable-records.ts';

/** What the facts of an installation are read from. */
export interface InstallationPorts extends RegistryPorts {
  readonly seal: Seal;
  readonly queues: Queues;
  /** Whether mail can go out. Absent: not known here. */
  readonly hasMail?: boolean | undefined;
}

/** What the check of writes leaves is gone by then. */
const PROBE_MS = 60_000;
/** Models that are looked at. */
const MAX_MODELS = 1000;

export type InstallationFacts = Readonly<ReturnType<typeof readers>>;

/** What is in the fleet's Redis about the installation itself. Each is read once, when something asks for it. */
export function installationFacts(ports: InstallationPorts, clock: Clock, scope: RecordScope): InstallationFacts {
  return readers(ports, clock, scope);
}

function readers(ports: InstallationPorts, clock: Clock, scope: RecordScope) {
  const { redis, keys, queues, settings } = ports;
  const info = async (section: string): Promise<string> => await redis.info(section);
  return {
    now: once(() => redisNow(redis)),
    /** Why Redis takes no writes; null when it does. A read does not show a full memory or disk, or a lost replica. */
    refusal: once(() => readRefusal(ports)),
    redisVersion: once(async () => /^redis_version:(\S+)/m.exec(await info('server'))?.[1] ?? '0'),
    scriptsProblem: once(() => scriptsProblem({ redis, keys })),
    evictionPolicy: once(() => readEvictionPolicy(redis)),
    redisSetting: (name: string) => readSetting(ports, name),
    persistence: once(() => info('persistence')),
    memory: once(() => readMemory(redis)),
    /** Shares of `maxmemory`. */
    memoryThresholds: {
      warning: settings.limits.backpressure.fleet.warningMemory,
      critical: settings.limits.backpressure.fleet.criticalMemory,
    },
    foreignData: once(() => installationProblem({ redis, keys })),
    /** Processes that write another form of the data beside this one. */
    foreignProcesses: once(() => readForeignProcesses({ redis, keys })),
    /** The form of the data; null where none is there yet. */
    dataForm: once(() => readDataForm({ redis, keys })),
    /** Suspended runs by the version of the agent that they began with; '' for none. */
    suspended: once(() => countSuspended(ports)),
    shards: keys.shards,
    /** The machine of the process that looks. */
    host: hostname(),
    unreadable: once(() => readUnreadable(ports, scope)),
    /** Names of the keys of this process: the one that seals, if it does, and those that open. */
    sealKeys: { seals: ports.seal.keyId ?? undefined, opens: ports.seal.keyIds },
    secrets: once(() => readSecrets(ports, scope)),
    workers: once(() => listWorkers(ports)),
    processes: once(() => listProcesses(ports)),
    chores: once(() => readChores(ports)),
    unserved: once(() => readUnserved(ports)),
    pausedQueues: once(() => readPaused(queues)),
    daemons: once(() => countDaemons(ports)),
    waitingForDaemons: once(() => countWaiting(ports)),
    unfollowedEnds: once(() => readUnfollowedEnds(ports)),
    waitingDeliveries: once(() => readWaitingDeliveries(queues)),
    refusedPlatforms: once(() => readRefusals(ports)),
    storages: once(() => readStorages(ports, 'files')),
    archives: once(() => readStorages(ports, 'archive')),
    limits: once(() => readLimits(ports)),
    throttles: once(() => listThrottles(ports, MAX_MODELS)),
    /** Milliseconds that the clock of this process is ahead of Redis's. */
    skewMs: once(() => readSkew(redis, clock)),
    alertRules: settings.alerts,
    hasMail: ports.hasMail,
    alertReceivers: once(() =>
      readReceivers(
        ports,
        settings.alerts.map(({ name }) => name),
      ),
    ),
  };
}

async function readRefusal({ redis, keys }: InstallationPorts): Promise<Refusal | null> {
  try {
    await redis.set(keys.shard(0).probe, '', 'PX', PROBE_MS);
    return null;
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null) throw error;
    return refusal;
  }
}

/** Managed services and ACLs may refuse to tell it. */
async function readSetting({ redis }: InstallationPorts, name: string): Promise<string> {
  const reply: unknown = await redis.call('CONFIG', 'GET', name);
  const value: unknown = Array.isArray(reply) ? reply[1] : undefined;
  if (typeof value !== 'string') throw new Error('Redis does not tell it, as with managed services: look in their console');
  return value;
}

/** Runs of a tenant that are counted. */
const MAX_SUSPENDED = 10_000;

async function countSuspended({ redis, keys }: InstallationPorts): Promise<Map<string, number>> {
  const all = new Map<string, number>();
  for (const tenant of new Set([DEFAULT_TENANT, ...(await redis.hkeys(keys.fleet.tenants))])) {
    for (const [name, count] of await countSuspendedVersions({ redis, keys }, tenant, MAX_SUSPENDED)) {
      all.set(name, (all.get(name) ?? 0) + count);
    }
  }
  return all;
}

const SKEW_READINGS = 3;

/** The least of several: a busy process reads its clock late, which looks like a skew. */
async function readSkew(redis: RegistryPorts['redis'], clock: Clock): Promise<number> {
  let least = await clockSkew(redis, clock);
  for (let reading = 1; reading < SKEW_READINGS; reading += 1) {
    const next = await clockSkew(redis, clock);
    if (Math.abs(next) < Math.abs(least)) least = next;
  }
  return least;
}

async function readPaused(queues: Queues): Promise<string[]> {
  const first = queues.all().filter(({ shard }) => shard === 0);
  const paused = await Promise.all(first.map(async ({ name, queue }) => ((await queue.isPaused()) ? [name] : [])));
  return paused.flat();
}

export interface DaemonCounts {
  registered: number;
  connected: number;
}

async function countDaemons({ redis, keys }: InstallationPorts): Promise<DaemonCounts> {
  const [registered, known, now] = await Promise.all([
    redis.hlen(keys.fleet.daemonTokens),
    readKnownDaemons({ redis, keys }),
    redisNow(redis),
  ]);
  // Workers with capabilities have a state too, and no registration.
  const connected = known.filter(({ isConnected, state }) => isConnected && !state.isWorker && statusOf(state, now) !== 'offline');
  return { registered, connected: connected.length };
}

/** Tasks for daemons: held until one fits, and those that no hub has looked at yet. */
export interface WaitingForDaemons {
  held: number;
  unseen: number;
}

async function countWaiting({ redis, keys, queues }: InstallationPorts): Promise<WaitingForDaemons> {
  const tenants = new Set([DEFAULT_TENANT, ...(await redis.hkeys(keys.fleet.tenants))]);
  const remote = queues.all().filter(({ name }) => name === 'remote');
  const [held, ...unseen] = await Promise.all([
    countAllHeldByGate({ redis, keys }, [...tenants], 'daemon'),
    ...remote.map(async ({ queue }) => await queue.getJobCountByTypes('waiting', 'prioritized')),
  ]);
  return { held, unseen: unseen.reduce((total, count) => total + count, 0) };
}

/** The limits of the fleet, which may be others than this machine's configuration says. */
async function readLimits(ports: InstallationPorts): Promise<Pick<FleetLimitsDirectory, 'stored' | 'configured' | 'current'>> {
  const limits = new FleetLimitsDirectory({ ...ports, log: createLog({ level: 'silent', service: 'findings' }) });
  await limits.refresh();
  return limits;
}
