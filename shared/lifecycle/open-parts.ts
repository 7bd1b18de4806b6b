import { AgentCatalog } from '../agents/index.ts';
import type { Config } from '../config/index.ts';
import { EventFeed } from '../events/index.ts';
import { createLedger, type Ledger } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import { type Intake, openQueues, type Queues, readOwedTickets, ticketOfState, TicketRelay } from '../queue/index.ts';
import { connectRedis, createKeys, type Keys, type RedisClient, Subscription } from '../redis/index.ts';
import { TenantDirectory } from '../tenants/index.ts';

/** What every service is composed of. `close` ends the connections that `openParts` opened. */
export interface Parts extends Intake {
  readonly config: Config;
  readonly log: Log;
  /** For commands: each ends within 2 s, also while Redis is away and behind another one that hangs. */
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly relay: TicketRelay;
  readonly tenants: TenantDirectory;
  readonly catalog: AgentCatalog;
  readonly events: EventFeed;
  /** Opens a subscription whose connection shows under this name. */
  subscribe(name: string, channels: readonly string[], onMessage: (message: string) => void): Subscription;
  /** Ends the process, which cannot go on: it drains and leaves with a code that says so. */
  readonly fail: (error: Error) => void;
  close(): Promise<void>;
}

export interface OpenPartsOptions {
  config: Config;
  log: Log;
  /** Names the connections. */
  service: string;
  /** What ends the process when it cannot go on. */
  fail: (error: Error) => void;
}

/** Connects to Redis and composes what services share. Does not wait for Redis: a service starts before it and says so in `/readyz`. */
export async function openParts({ config, log, service, fail }: OpenPartsOptions): Promise<Parts> {
  const { env, settings } = config;
  const keys = createKeys(env.SHARDS);
  const redis = connectRedis({ url: env.REDIS_URL, name: service, log });
  const tenants = new TenantDirectory({ redis, keys, settings, log });
  const queues = openQueues(redis, keys, log);
  const relay = new TicketRelay({ redis, keys, queues, readOwed: (entries) => readOwedTickets(ledger, entries), log });
  const ledger = createLedger({
    redis,
    keys,
    settings,
    limitsOf: (tenant) => tenants.limitsOf(tenant),
    onGranted: (tenant, task, state) => {
      log.info({ event: 'task.queued', task, tenant, queue: state.queue, priority: state.priority }, 'its turn has come');
      relay.add(ticketOfState(tenant, task, state));
    },
  });
  const catalog = new AgentCatalog({ redis, keys, settings });
  const subscribe: Parts['subscribe'] = (name, channels, onMessage) => {
    const open = (): RedisClient => connectRedis({ url: env.REDIS_URL, name, log, role: 'subscriber' });
    return new Subscription({ open, redis, keys, channels, onMessage, settings: settings.consumers, fail, log });
  };
  const events = new EventFeed({ keys, subscribe: (channels, onMessage) => subscribe(`${service}-events`, channels, onMessage) });
  await tenants.start().catch((error: unknown) => log.warn({ err: error }, 'Redis does not answer yet'));
  const close = async (): Promise<void> => {
    tenants.stop();
    await relay.idle();
    events.close();
    await queues.close();
    redis.disconnect();
  };
  const findAgent = async (tenant: string, id: string): Promise<Awaited<ReturnType<Intake['findAgent']>>> =>
    (await catalog.find(tenant, id))?.definition ?? null;
  return { config, log, redis, keys, ledger, queues, relay, tenants, catalog, events, findAgent, subscribe, fail, close };
}
