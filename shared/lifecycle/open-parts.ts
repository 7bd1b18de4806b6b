import { AgentCaps, AgentCatalog } from '../agents/index.ts';
import { assertBudgets, BudgetDirectory } from '../budgets/index.ts';
import type { AgentDefinition, Config, Settings } from '../config/index.ts';
import { EventFeed } from '../events/index.ts';
import { FileLinks, type FileStore, type ObjectArchive, openArchive, openFiles, publicAddress } from '../files/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { Log, Traces } from '../log/index.ts';
import { FleetMetrics } from '../metrics/index.ts';
import { ProviderThrottle } from '../providers/index.ts';
import { type CancelRelay, type Intake, OfferedSlots, openQueues, type Queues, type TicketRelay } from '../queue/index.ts';
import { connectRedis, createKeys, FleetId, FsyncBarrier, type Keys, type RedisClient, Subscription } from '../redis/index.ts';
import { systemClock } from '../time/index.ts';
import { FleetLimitsDirectory, RecordChanges, Seal, TenantDirectory } from '../tenants/index.ts';
import type { WaitHandlers } from '../waits/index.ts';
import { openLedger } from './open-ledger.ts';
import { openWaits } from './open-waits.ts';

/**
 * All that a process is composed of. Only what composes (a process's start, `create-*-service.ts`) takes it complete; what it composes names
 * the few ports that it needs in an interface of its own. `close` ends the connections that `openParts` opened.
 */
export interface Parts extends Intake {
  readonly config: Config;
  readonly log: Log;
  /** For commands: each ends within 2 s, also while Redis is away or an earlier command hangs. */
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly fleetId: FleetId;
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly relay: TicketRelay;
  /** Cancels the sub-tasks of what messages stopped. */
  readonly cancels: CancelRelay;
  /** What is done when a run begins to wait. */
  readonly waits: WaitHandlers;
  /** The slots that the fleet's workers offer each queue. */
  readonly offeredSlots: OfferedSlots;
  readonly tenants: TenantDirectory;
  readonly fleetLimits: FleetLimitsDirectory;
  /** Whether tenants, limits or caps have changed. */
  readonly changes: RecordChanges;
  readonly metrics: FleetMetrics;
  /** Lets calls of models go, by what the fleet's throttles allow. */
  readonly throttle: ProviderThrottle;
  readonly catalog: AgentCatalog;
  readonly budgets: BudgetDirectory;
  readonly settings: Settings;
  readonly events: EventFeed;
  readonly files: FileStore;
  /** Undefined without one, and where a service reads no files. */
  readonly archive: ObjectArchive | undefined;
  readonly fileLinks: FileLinks;
  readonly seal: Seal;
  /** Undefined where no endpoint is set that takes spans. */
  readonly traces: Traces | undefined;
  /** Opens a subscription whose connection shows under this name. */
  subscribe(name: string, channels: readonly string[], onMessage: (message: string) => void): Subscription;
  /** Ends the process, which cannot go on: it drains and exits with a code for that. */
  readonly fail: (error: Error) => void;
  /** Ends the process, which has done its work, with 0; does nothing where other services go on in it. */
  readonly finish: () => void;
  close(): Promise<void>;
}

export interface OpenPartsOptions {
  config: Config;
  log: Log;
  /** Names the connections. */
  service: string;
  /** What ends the process when it cannot go on. */
  fail: (error: Error) => void;
  /** What ends the process when its work is done; by default it goes on. */
  finish?: (() => void) | undefined;
  /** Records spans; closed by who opened it. */
  traces?: Traces | undefined;
}

/** Services that neither store nor read files. */
export const WITHOUT_FILES: ReadonlySet<string> = new Set(['dashboard', 'scheduler', 'webhooks']);

/**
 * Connects to Redis and composes what services share. Does not wait for Redis: a service starts before it and reports that in `/readyz`.
 */
export async function openParts(options: OpenPartsOptions): Promise<Parts> {
  const { config, log, service, fail, finish = goOn, traces } = options;
  const { env, settings } = config;
  const keys = createKeys(env.SHARDS);
  const redis = connectRedis({ url: env.REDIS_URL, name: service, log });
  const seal = new Seal({ key: env.MUSTER_SEAL_KEY, previous: env.MUSTER_SEAL_KEY_PREVIOUS });
  const fleet = { redis, keys, settings, log, seal };
  const directories = openDirectories(fleet);
  const metrics = new FleetMetrics(fleet);
  const throttle = new ProviderThrottle({ ...fleet, clock: systemClock, counts: metrics.counts });
  const queueing = { queues: openQueues(redis, keys, log), offeredSlots: new OfferedSlots(fleet) };
  const archive = WITHOUT_FILES.has(service) ? undefined : openArchive(config);
  const fsync = settings.redis.durability === 'waitaof' ? openBarrier(options, keys) : undefined;
  const { ledger, relay, cancels } = openLedger({ ...fleet, ...directories, ...queueing, metrics, traces, archive, fsync });
  const catalog = new AgentCatalog({ ...fleet, caps: directories.agentCaps });
  const subscribe: Parts['subscribe'] = (name, channels, onMessage) =>
    openSubscription({ ...fleet, config, fail }, { name, channels, onMessage });
  const events = new EventFeed({ keys, subscribe: (channels, onMessage) => subscribe(`${service}-events`, channels, onMessage) });
  metrics.start();
  throttle.start();
  await startDirectories(directories).catch((error: unknown) => log.warn({ reason: String(error) }, 'Redis does not answer yet'));
  const opened = { ...fleet, ...directories, ...queueing, metrics, throttle, ledger, relay, cancels, catalog, events, fsync };
  const intake = {
    ...opened,
    files: openFiles({ redis, keys, config, isUsed: !WITHOUT_FILES.has(service) }),
    findAgent: (tenant: string, id: string) => findDefinition(catalog, tenant, id),
    assertBudgets: (task: Parameters<NonNullable<Intake['assertBudgets']>>[0]) => assertBudgets({ ...fleet, ...directories }, task),
  };
  return {
    ...opened,
    ...intake,
    waits: openWaits(intake, opened),
    config,
    archive,
    traces,
    fleetId: new FleetId(fleet),
    fileLinks: new FileLinks({ redis, keys, base: publicAddress(env) }),
    subscribe,
    fail,
    finish,
    close: () => closeParts(opened),
  };
}

function openBarrier({ config, log, service }: OpenPartsOptions, keys: Keys): FsyncBarrier {
  const open = (): RedisClient => connectRedis({ url: config.env.REDIS_URL, name: `${service}-fsync`, log, role: 'blocking' });
  return new FsyncBarrier({ open, keys, timeoutMs: config.settings.redis.durabilityTimeoutMs });
}

function goOn(): void {
  // Other services need the process.
}

/** What a process keeps of records that operators and tenants change while it runs. */
interface Directories extends Pick<Parts, 'tenants' | 'fleetLimits' | 'changes' | 'budgets'> {
  agentCaps: AgentCaps;
}

function openDirectories(fleet: Pick<Parts, 'redis' | 'keys' | 'settings' | 'log' | 'seal'>): Directories {
  const changes = new RecordChanges(fleet);
  return {
    changes,
    tenants: new TenantDirectory({ ...fleet, changes }),
    fleetLimits: new FleetLimitsDirectory({ ...fleet, changes }),
    agentCaps: new AgentCaps({ ...fleet, changes }),
    budgets: new BudgetDirectory(fleet),
  };
}

async function startDirectories({ tenants, fleetLimits, agentCaps }: Directories): Promise<void> {
  await Promise.all([tenants.start(), fleetLimits.start(), agentCaps.start()]);
}

type SubscriptionPorts = Pick<Parts, 'config' | 'redis' | 'keys' | 'log' | 'fail'>;

function openSubscription(
  { config, redis, keys, log, fail }: SubscriptionPorts,
  { name, channels, onMessage }: { name: string; channels: readonly string[]; onMessage: (message: string) => void },
): Subscription {
  const open = (): RedisClient => connectRedis({ url: config.env.REDIS_URL, name, log, role: 'subscriber' });
  return new Subscription({ open, redis, keys, channels, onMessage, settings: config.settings.consumers, fail, log });
}

async function findDefinition(catalog: AgentCatalog, tenant: string, id: string): Promise<AgentDefinition | null> {
  return (await catalog.find(tenant, id))?.definition ?? null;
}

type Opened = Directories &
  Pick<Parts, 'metrics' | 'throttle' | 'relay' | 'cancels' | 'events' | 'queues' | 'redis'> & { fsync: FsyncBarrier | undefined };

/** Closes what `openParts` opened, the connection last. */
async function closeParts({ relay, cancels, throttle, metrics, ...opened }: Opened): Promise<void> {
  opened.tenants.stop();
  opened.agentCaps.stop();
  opened.fleetLimits.stop();
  // Before the relay, which gets the tickets that the ends of sub-tasks let out.
  await cancels.close();
  await relay.idle();
  await throttle.stop();
  await metrics.stop();
  opened.fsync?.close();
  opened.events.close();
  await opened.queues.close();
  opened.redis.disconnect();
}
