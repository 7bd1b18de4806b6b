import { MusterError } from '#shared/errors/muster-error.ts';
import type { RedisClient } from '#shared/redis/connect-redis.ts';
import { installationProblem } from '#shared/redis/installation-problem.ts';
import type { Keys } from '#shared/redis/keys.ts';
import type { Clock } from '#shared/time/clock.ts';
import type { Check } from './check.ts';

const OLDEST = 6.2;
const RECOMMENDED = 7;
/** Delayed work fires by the workers' clocks: a difference shows as work that comes too early or too late. */
const SKEW_WARN_MS = 500;
const SKEW_FAIL_MS = 5000;

/** Everything the fleet's promises rest on in this Redis. One failed check when it does not answer. */
export async function checkRedis(redis: RedisClient, keys: Keys, clock: Clock): Promise<Check[]> {
  try {
    await redis.ping();
    return [
      await checkVersion(redis),
      ...(await checkSettings(redis)),
      await checkInstallation(redis, keys),
      await checkClock(redis, clock),
    ];
  } catch (error) {
    return [{ name: 'Redis', state: 'fail', detail: `does not answer (${reasonOf(error)}): check REDIS_URL, and that the server runs` }];
  }
}

async function checkVersion(redis: RedisClient): Promise<Check> {
  const text = /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? '0';
  const version = Number.parseFloat(text);
  const name = 'Redis version';
  if (version < OLDEST) return { name, state: 'fail', detail: `${text} is too old: ${OLDEST} is needed, ${RECOMMENDED} recommended` };
  if (version < RECOMMENDED) return { name, state: 'warn', detail: `${text} works, ${RECOMMENDED} is recommended` };
  return { name, state: 'ok', detail: text };
}

interface SettingRule {
  setting: string;
  judge: (value: string) => Omit<Check, 'name'>;
}

const RULES: readonly SettingRule[] = [
  {
    setting: 'appendonly',
    judge: (value) =>
      value === 'yes'
        ? { state: 'ok', detail: 'yes: a Redis that is killed loses nothing' }
        : {
            state: 'fail',
            detail: `${value}: a Redis that ends loses all accepted work since its last snapshot; CONFIG SET appendonly yes`,
          },
  },
  {
    setting: 'appendfsync',
    judge: (value) => {
      if (value === 'always') return { state: 'ok', detail: 'always: nothing accepted is lost, also when the power fails' };
      if (value === 'everysec') return { state: 'ok', detail: 'everysec: when the power fails, about the last second is lost' };
      return { state: 'warn', detail: `${value}: when the power fails, up to half a minute is lost; CONFIG SET appendfsync everysec` };
    },
  },
  {
    setting: 'maxmemory-policy',
    judge: (value) =>
      value === 'noeviction'
        ? { state: 'ok', detail: 'noeviction' }
        : { state: 'fail', detail: `${value}: a full Redis throws work away; CONFIG SET maxmemory-policy noeviction` },
  },
];

async function checkSettings(redis: RedisClient): Promise<Check[]> {
  return Promise.all(RULES.map((rule) => checkSetting(redis, rule)));
}

async function checkSetting(redis: RedisClient, { setting, judge }: SettingRule): Promise<Check> {
  const name = `Redis ${setting}`;
  const unread: Check = { name, state: 'warn', detail: 'cannot be read here (managed services hide it): check it in their console' };
  try {
    const reply: unknown = await redis.call('CONFIG', 'GET', setting);
    const value: unknown = Array.isArray(reply) ? reply[1] : undefined;
    return typeof value === 'string' ? { name, ...judge(value) } : unread;
  } catch {
    return unread;
  }
}

async function checkInstallation(redis: RedisClient, keys: Keys): Promise<Check> {
  const problem = await installationProblem(redis, keys);
  const name = 'Data in Redis';
  return problem === null ? { name, state: 'ok', detail: `can be read, SHARDS=${keys.shards}` } : { name, state: 'fail', detail: problem };
}

async function checkClock(redis: RedisClient, clock: Clock): Promise<Check> {
  const before = clock.now();
  const [seconds, micros] = await redis.time();
  const after = clock.now();
  // The reply was made somewhere between the two looks at our clock, and half-way is the best guess.
  const skewMs = Math.round((before + after) / 2 - (Number(seconds) * 1000 + Number(micros) / 1000));
  const name = 'Clock';
  const size = Math.abs(skewMs);
  if (size < SKEW_WARN_MS) return { name, state: 'ok', detail: `${size} ms from Redis's` };
  const detail = `this machine is ${size} ms ${skewMs > 0 ? 'ahead of' : 'behind'} Redis: synchronise both (NTP)`;
  return { name, state: size < SKEW_FAIL_MS ? 'warn' : 'fail', detail };
}

function reasonOf(error: unknown): string {
  if (error instanceof MusterError) return error.code;
  return error instanceof Error ? error.message : String(error);
}
