import { Cluster, type ClusterNode, Redis, type ClusterOptions as BaseOptions, type Command, type RedisOptions } from 'ioredis';
import type { Log } from '../log/index.ts';
import { parseRedisAddress } from './redis-address.ts';
import { startDeadline } from '../time/index.ts';
import { followSwitches } from './sentinel-switches.ts';
import { reportConnection, reportOutages } from './report-outages.ts';

export type RedisClient = Redis | Cluster;

/**
 * - `commands`: every call ends within `COMMAND_TIMEOUT_MS`, also while Redis is away or the link is half open
 * - `blocking`: waits for as long as the server does; for BullMQ's workers
 * - `subscriber`: listens to channels
 * - `look`: as `commands`, but asks also a server that still loads its data, and so hears that
 */
type ConnectionRole = 'commands' | 'blocking' | 'subscriber' | 'look';

interface ConnectOptions {
  url: string;
  /** Shown in `CLIENT LIST`, after `muster:`. */
  name: string;
  /** Shown there instead, for connections by which BullMQ counts a queue's workers. These many log at `debug`. */
  clientName?: string;
  log: Log;
  role?: ConnectionRole;
}

/** A call may wait behind a hanging one, and both must end within the 2 s of a 503. */
export const COMMAND_TIMEOUT_MS = 900;
/** BullMQ's own backoff makes a 20 s outage 38 s long; a second is short enough for people and long enough for Redis. */
const RECONNECT_MAX_MS = 1000;
/** A link without a reply for so long is dead, whatever TCP reports. Longer than BullMQ's blocking reads (5 s). */
const SOCKET_TIMEOUT_MS = 10_000;

/** How often a cluster's client reads which node serves which keys: a node that is gone answers no `MOVED`. */
const SLOTS_REFRESH_MS = 5000;

/** Opens a connection in the background: commands given before it stands wait for it, within their timeout. */
export function connectRedis({ url, name, clientName, log, role = 'commands' }: ConnectOptions): RedisClient {
  const address = parseRedisAddress(url);
  const options: NodeOptions = {
    ...address.options,
    replyMapping: 'legacy',
    connectionName: clientName ?? `muster:${name}`,
    connectTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: reconnectDelay,
    reconnectOnError: followPrimary(),
    ...roleOptions(role),
  };
  const isBounded = role === 'commands' || role === 'look';
  const client = address.kind === 'cluster' ? openCluster(address.nodes, options, isBounded) : openNode(options, isBounded);
  if (address.kind === 'sentinel' && client instanceof Redis) followSwitches(client, url, address.options, reconnectDelay);
  const ownLog = log.child({ connection: name });
  if (clientName === undefined) reportOutages(client, url, ownLog);
  else reportConnection(client, ownLog);
  return client;
}

function openNode(options: NodeOptions, isBounded: boolean): Redis {
  return isBounded ? new BoundedRedis(options, COMMAND_TIMEOUT_MS) : new Redis(options);
}

function openCluster(nodes: ClusterNode[], redisOptions: NodeOptions, isBounded: boolean): Cluster {
  const options: ClusterOptions = {
    redisOptions,
    clusterRetryStrategy: reconnectDelay,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    enableAutoPipelining: isBounded,
    // Certificates are for the names of nodes, which the client would otherwise replace by addresses.
    ...(redisOptions.tls ? { dnsLookup: (host, callback) => callback(null, host) } : {}),
  };
  return isBounded ? new BoundedCluster(nodes, options, COMMAND_TIMEOUT_MS) : new Cluster(nodes, options);
}

/**
 * After a failover the address leads to another server than the open connection, which is reached by connecting again. A server that stays a
 * replica would be connected to for each command, none of which would learn why: those of the next second are refused as they are.
 */
function followPrimary(): (error: Error) => 2 | false {
  let lastAt = -Infinity;
  return (error) => {
    const now = performance.now();
    if (!error.message.startsWith('READONLY') || now - lastAt < RECONNECT_MAX_MS) return false;
    lastAt = now;
    return 2;
  };
}

function reconnectDelay(times: number): number {
  return Math.min(50 * times, RECONNECT_MAX_MS);
}

function roleOptions(role: ConnectionRole): Record<string, unknown> {
  if (role === 'commands') {
    return { socketTimeout: SOCKET_TIMEOUT_MS, maxRetriesPerRequest: 20, enableAutoPipelining: true };
  }
  if (role === 'look') return { ...roleOptions('commands'), enableReadyCheck: false };
  if (role === 'blocking') return { maxRetriesPerRequest: null, socketTimeout: SOCKET_TIMEOUT_MS };
  return { maxRetriesPerRequest: null, autoResubscribe: true };
}

/** Answers come in the shapes of the older protocol. */
type NodeOptions = RedisOptions & { replyMapping: 'legacy' };
type ClusterOptions = Omit<BaseOptions, 'redisOptions'> & { redisOptions: NodeOptions };

/**
 * BoundedRedis is responsible for every command ending within a time, also while Redis is away or the link is half open. The client's
 * own timeout counts time in which this process was too busy to read the answer, and would take that for a Redis that is gone.
 */
class BoundedRedis extends Redis {
  commandsSent = 0;
  readonly #timeoutMs: number;

  constructor(options: NodeOptions, timeoutMs: number) {
    // What the client sends while it is made comes before this class's own fields.
    super({ ...options, lazyConnect: true });
    this.#timeoutMs = timeoutMs;
    this.connect().catch(() => undefined);
  }

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    if (boundCommand(args[0], this.#timeoutMs)) this.commandsSent += 1;
    return super.sendCommand(...args);
  }
}

/** BoundedCluster is responsible for the same with a cluster, whose client keeps commands while it has no node for them or no slot map. */
class BoundedCluster extends Cluster {
  commandsSent = 0;
  readonly #timeoutMs: number;

  constructor(nodes: ClusterNode[], options: ClusterOptions, timeoutMs: number) {
    super(nodes, { ...options, lazyConnect: true });
    this.#timeoutMs = timeoutMs;
    this.connect().catch(() => undefined);
  }

  override sendCommand(...args: Parameters<Cluster['sendCommand']>): unknown {
    const [command] = args;
    if (boundCommand(command, this.#timeoutMs)) {
      this.commandsSent += 1;
      command.promise.catch((error: Error) => this.#followSlots(error));
    }
    return super.sendCommand(...args);
  }

  /** A pipeline is not sent again after a redirection, and each one would meet it until the next read of the slots. */
  #followSlots(error: Error): void {
    if (error.message.startsWith('MOVED')) this.refreshSlotsCache();
  }

  override delayUntilReady(callback: Parameters<Cluster['delayUntilReady']>[0]): void {
    let isCalled = false;
    const call = (error?: Error | null): void => {
      stop();
      if (!isCalled) callback(error);
      isCalled = true;
    };
    const stop = startDeadline(this.#timeoutMs, () => call(timedOut()));
    super.delayUntilReady(call);
  }
}

/** On commands that were sent: a redirection sends them again. */
const BOUNDED = Symbol('bounded');

/** Returns whether the command is sent for the first time. */
function boundCommand(command: Command & { [BOUNDED]?: boolean }, timeoutMs: number): boolean {
  if (command[BOUNDED]) return false;
  command[BOUNDED] = true;
  const stop = startDeadline(timeoutMs, () => command.reject(timedOut()));
  command.promise.then(stop, stop);
  return true;
}

/** Commands that this process gave to a connection for commands. */
export function commandsSentBy(redis: RedisClient): number {
  return redis instanceof BoundedRedis || redis instanceof BoundedCluster ? redis.commandsSent : 0;
}

function timedOut(): Error {
  return new Error('Command timed out');
}
