import { AgentCaps, AgentCatalog } from '../agents/index.ts';
import { assertBudgets, BudgetDirectory, explainBudget } from '../budgets/index.ts';
import type { AgentDefinition, Config, Settings } from '../config/index.ts';
import { EventFeed } from '../events/index.ts';
import { createLedger, explainFailures, type IssuedTicket, type Ledger } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import { FleetMetrics } from '../metrics/index.ts';
import { explainCircuit } from '../models/index.ts';
import { explainProvider, ProviderThrottle } from '../providers/index.ts';
import { type Intake, OfferedSlots, openQueues, type Queues, readOwedTickets, TicketRelay } from '../queue/index.ts';
import { connectRedis, createKeys, FleetId, type Keys, type RedisClient, Subscription } from '../redis/index.ts';
import { priorityBand } from '../tasks/index.ts';
import { systemClock } from '../time/index.ts';
import { FleetLimitsDirectory, TenantDirectory } from '../tenants/index.ts';

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
  /** The slots that the fleet's workers offer each queue. */
  readonly offeredSlots: OfferedSlots;
  readonly tenants: TenantDirectory;
  readonly fleetLimits: FleetLimitsDirectory;
  readonly metrics: FleetMetrics;
  /** Lets calls of models go, by what the fleet's throttles allow. */
  readonly throttle: ProviderThrottle;
  readonly catalog: AgentCatalog;
  readonly budgets: BudgetDirectory;
  readonly settings: Settings;
  readonly events: EventFeed;
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
}

/**
 * Connects to Redis and composes what services share. Does not wait for Redis: a service starts before it and reports that in `/readyz`.
 */
export async function openParts(options: OpenPartsOptions): Promise<Parts> {
  const { config, log, service, fail, finish = goOn } = options;
  const { env, settings } = config;
  const keys = createKeys(env.SHARDS);
  const redis = connectRedis({ url: env.REDIS_URL, name: service, log });
  const tenants = new TenantDirectory({ redis, keys, settings, log });
  const fleetLimits = new FleetLimitsDirectory({ redis, keys, settings, log });
  const metrics = new FleetMetrics({ redis, keys, settings, log });
  const queues = openQueues(redis, keys, log);
  const offeredSlots = new OfferedSlots({ redis, keys, settings });
  const agentCaps = new AgentCaps({ redis, keys, log });
  const budgets = new BudgetDirectory({ redis, keys, settings });
  const { ledger, relay } = openLedger({
    redis,
    keys,
    settings,
    tenants,
    agentCaps,
    fleetLimits,
    metrics,
    queues,
    offeredSlots,
    budgets,
    log,
  });
  const catalog = new AgentCatalog({ redis, keys, settings, caps: agentCaps });
  const subscribe: Parts['subscribe'] = (name, channels, onMessage) =>
    openSubscription({ ...options, redis, keys }, { name, channels, onMessage });
  const events = new EventFeed({ keys, subscribe: (channels, onMessage) => subscribe(`${service}-events`, channels, onMessage) });
  const throttle = new ProviderThrottle({ redis, keys, settings, clock: systemClock, log, counts: metrics.counts });
  metrics.start();
  throttle.start();
  const reading = [tenants.start(), fleetLimits.start(), agentCaps.start()];
  await Promise.all(reading).catch((error: unknown) => log.warn({ err: error }, 'Redis does not answer yet'));
  return {
    config,
    log,
    redis,
    keys,
    fleetId: new FleetId({ redis, keys }),
    ledger,
    queues,
    relay,
    offeredSlots,
    tenants,
    fleetLimits,
    metrics,
    throttle,
    catalog,
    budgets,
    settings,
    events,
    subscribe,
    fail,
    finish,
    findAgent: (tenant, id) => findDefinition(catalog, tenant, id),
    assertBudgets: (task) => assertBudgets({ redis, keys, budgets }, task),
    close: () => closeParts({ tenants, agentCaps, fleetLimits, metrics, throttle, relay, events, queues, redis }),
  };
}

function goOn(): void {
  // Other services need the process.
}

interface LedgerPorts extends Pick<
  Parts,
  'redis' | 'keys' | 'tenants' | 'fleetLimits' | 'metrics' | 'queues' | 'offeredSlots' | 'budgets' | 'log'
> {
  settings: Settings;
  agentCaps: AgentCaps;
}

/** The ledger and the relay need each other: a granted task gets its ticket, and a ticket that is owed is read from the ledger. */
function openLedger(ports: LedgerPorts): Pick<Parts, 'ledger' | 'relay'> {
  const { redis, keys, settings, tenants, agentCaps, fleetLimits, metrics, queues, offeredSlots, budgets, log } = ports;
  const relay = new TicketRelay({ redis, keys, queues, readOwed: (entries) => readOwedTickets(ledger, entries), log });
  const ledger = createLedger({
    redis,
    keys,
    settings,
    limitsOf: (tenant) => tenants.limitsOf(tenant),
    agentCapsOf: (tenant) => agentCaps.of(tenant),
    fleetLimits: () => fleetLimits.current(),
    fleetShareOf: (tenant) => fleetLimits.shareOf(tenant),
    counts: metrics.counts,
    offeredSlots: (queue) => offeredSlots.of(queue),
    costOf: (tenant, agent, { queue, priority }) => metrics.serviceTimes.of(tenant, agent, priorityBand(queue, priority)),
    onTicket: (ticket) => relayTicket({ relay, log }, ticket),
    holds: {
      budget: (tenant, what) => explainBudget({ redis, keys, budgets }, tenant, what),
      provider: (tenant, what, ahead) => explainProvider({ redis, keys, settings }, { tenant, what, ahead }),
      failures: (tenant, agent) => explainFailures({ redis, keys }, tenant, agent),
      circuit: (tenant, name) => explainCircuit({ redis, keys }, tenant, name),
    },
  });
  return { ledger, relay };
}

function relayTicket({ relay, log }: Pick<Parts, 'relay' | 'log'>, ticket: IssuedTicket): void {
  const { task, tenant, queue, priority } = ticket;
  log.info({ event: 'task.queued', task, tenant, queue, priority }, 'a granted task gets its ticket');
  relay.add(ticket);
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

/** Closes what `openParts` opened, the connection last. */
async function closeParts({
  tenants,
  agentCaps,
  fleetLimits,
  metrics,
  throttle,
  relay,
  events,
  queues,
  redis,
}: Pick<Parts, 'tenants' | 'fleetLimits' | 'metrics' | 'throttle' | 'relay' | 'events' | 'queues' | 'redis'> & {
  agentCaps: AgentCaps;
}): Promise<void> {
  tenants.stop();
  agentCaps.stop();
  fleetLimits.stop();
  await relay.idle();
  await throttle.stop();
  await metrics.stop();
  events.close();
  await queues.close();
  redis.disconnect();
}
