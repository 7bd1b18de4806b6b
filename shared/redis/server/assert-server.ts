import { Cluster, type Redis } from 'ioredis';
import type { Settings } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { Log } from '../../log/index.ts';
import { isRedisUnavailable } from '../availability.ts';
import type { RedisClient } from '../connect-redis.ts';
import type { Keys } from '../keys.ts';
import { refusalOf } from '../refusals.ts';

interface ServerPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Pick<Settings, 'redis'>;
}

export const OLDEST_REDIS = 6.2;

/**
 * Asserts that work is safe in this Redis: it is new enough, runs the scripts, evicts nothing, and keeps what `redis.durability` says. Throws
 * `config.invalid` with one sentence, and the client's error while the server is away or refuses.
 */
export async function assertServer({ log, ...ports }: ServerPorts & { readonly log: Log }): Promise<void> {
  const problem =
    (await versionProblem(ports.redis)) ??
    (await scriptsProblem(ports)) ??
    (await evictionProblem(ports, log)) ??
    (await durabilityProblem(ports));
  if (problem !== null) throw new MusterError('config.invalid', problem, { details: { problems: [problem] } });
}

async function versionProblem(redis: RedisClient): Promise<string | null> {
  const version = await readInfo(redis, 'server', 'redis_version');
  if (version === null || Number.parseFloat(version) >= OLDEST_REDIS) return null;
  return `Redis ${version} is too old: Muster needs ${OLDEST_REDIS} or newer.`;
}

/** Scripts are given some keys and make the names of others of the same hash tag from them, as this does. */
const TOUCH_ANOTHER_KEY = "return redis.call('EXISTS', KEYS[1] .. '/other')";

/** What such servers say, with what helps there. */
const UNDECLARED: readonly (readonly [text: RegExp, helps: string])[] = [
  [/undeclared key/i, 'start Dragonfly with --default_lua_flags=allow-undeclared-keys'],
  [/bad lua script for redis cluster/i, 'set script_check_enable to 0 at Tair'],
];

/** Why the server does not run scripts as Muster's are, with what helps; null when it does. */
export async function scriptsProblem({ redis, keys }: Pick<ServerPorts, 'redis' | 'keys'>): Promise<string | null> {
  try {
    await redis.eval(TOUCH_ANOTHER_KEY, 1, keys.shard(0).probe);
    return null;
  } catch (error) {
    if (!(error instanceof Error) || isRedisUnavailable(error)) throw error;
    const known = UNDECLARED.find(([text]) => text.test(error.message));
    if (known === undefined) return `Redis does not run scripts as Muster needs them, and says: ${error.message}.`;
    return `Redis lets scripts use declared keys only, and Muster's use others of the same hash tag, too: ${known[1]}, or use another server.`;
  }
}

const EVICTS_NOTHING = 'noeviction';

async function evictionProblem({ redis, settings }: ServerPorts, log: Log): Promise<string | null> {
  if (settings.redis.allowEviction) return null;
  const policy = await readEvictionPolicy(redis);
  if (policy === null) {
    const text =
      'Redis does not say its maxmemory-policy: look at its provider whether that is noeviction, since another one throws accepted work away';
    log.warn({ event: 'redis.policy-unknown' }, text);
  }
  if (policy === null || policy === EVICTS_NOTHING) return null;
  return `Redis has maxmemory-policy ${policy}, which throws accepted work away once its memory is full: CONFIG SET maxmemory-policy noeviction, or set redis.allowEviction to live with that.`;
}

/** The `maxmemory-policy`, of a cluster the first that evicts; null where the server does not say it, as some managed services. */
export async function readEvictionPolicy(redis: RedisClient): Promise<string | null> {
  return (
    (await readInfo(redis, 'memory', 'maxmemory_policy', (policy) => policy !== EVICTS_NOTHING)) ??
    (await readConfig(redis, 'maxmemory-policy'))
  );
}

async function durabilityProblem({ redis, settings }: ServerPorts): Promise<string | null> {
  const { durability } = settings.redis;
  if (durability === 'always') return await alwaysProblem(redis);
  return durability === 'waitaof' ? await waitaofProblem(redis) : null;
}

async function alwaysProblem(redis: RedisClient): Promise<string | null> {
  const [appendonly, appendfsync] = [await readConfig(redis, 'appendonly'), await readConfig(redis, 'appendfsync')];
  if (appendonly === 'yes' && appendfsync === 'always') return null;
  const found = `appendonly ${appendonly ?? 'unknown'} and appendfsync ${appendfsync ?? 'unknown'}`;
  return `redis.durability is always, and Redis has ${found}: it needs appendonly yes and appendfsync always.`;
}

/** Returns at once on a connection that wrote nothing, else within so long. */
const TRY_MS = 100;

async function waitaofProblem(redis: RedisClient): Promise<string | null> {
  try {
    for (const node of await primariesOf(redis)) await node.call('WAITAOF', 1, 0, TRY_MS);
    return null;
  } catch (error) {
    if (!(error instanceof Error) || isRedisUnavailable(error)) throw error;
    const version = (await readInfo(redis, 'server', 'redis_version')) ?? 'of an unknown version';
    if (/unknown command/i.test(error.message))
      return `redis.durability is waitaof, and Redis ${version} has no WAITAOF: it needs 7.2 or newer, or durability always.`;
    return `redis.durability is waitaof, and Redis does not do that: ${error.message}`;
  }
}

/** A field of INFO at each primary: the first that fits `isWanted`, else the first; null where no server says it. */
async function readInfo(redis: RedisClient, section: string, field: string, isWanted?: (value: string) => boolean): Promise<string | null> {
  const found: string[] = [];
  for (const node of await primariesOf(redis)) {
    const text = await readIfSaid(() => node.info(section));
    found.push(...(new RegExp(`^${field}:(\\S+)`, 'm').exec(text ?? '')?.slice(1) ?? []));
  }
  return (isWanted && found.find(isWanted)) ?? found[0] ?? null;
}

async function readConfig(redis: RedisClient, name: string): Promise<string | null> {
  const reply = await readIfSaid(() => redis.call('CONFIG', 'GET', name));
  const value: unknown = Array.isArray(reply) ? reply[1] : undefined;
  return typeof value === 'string' ? value : null;
}

/** Null where a provider or ACL does not allow the question. */
async function readIfSaid<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isRedisUnavailable(error) && refusalOf(error)?.word !== 'NOPERM') throw error;
    return null;
  }
}

/** Of a cluster all of them, once it is connected. */
async function primariesOf(redis: RedisClient): Promise<(Redis | RedisClient)[]> {
  if (!(redis instanceof Cluster)) return [redis];
  await redis.time();
  return redis.nodes('master');
}
