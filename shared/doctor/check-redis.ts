import { MusterError } from '../errors/index.ts';
import { listWorkers, type RegistryPorts } from '../queue/index.ts';
import { clockSkew, describeRefusal, describeSkew, installationProblem, type Keys, type RedisClient, refusalOf } from '../redis/index.ts';
import type { Clock } from '../time/index.ts';
import { checkDaemons } from './check-daemons.ts';
import { checkOutbound, checkRecords, type RecordScope } from './check-data.ts';
import { checkFiles } from './check-files.ts';
import { checkProcesses } from './check-processes.ts';
import { checkPlatforms } from './check-platforms.ts';
import { checkModels } from './check-models.ts';
import { checkLimits } from './check-limits.ts';
import type { CheckResult, CheckPorts } from './check.ts';

const OLDEST = 6.2;
const RECOMMENDED = 7;
/** What the check of writes leaves is gone by then. */
const PROBE_MS = 60_000;
/** Tasks start by the clock of Redis. Records and logs of a process with another clock contradict those of the others. */
const OWN_SKEW_WARN_MS = 500;
const OWN_SKEW_FAIL_MS = 5000;

/** Checks what the fleet's promises need of this Redis. A single failed check when it does not answer. */
export async function checkRedis(fleet: CheckPorts, clock: Clock, scope: RecordScope): Promise<CheckResult[]> {
  const { redis, keys } = fleet;
  try {
    await redis.exists(keys.fleet.installation);
  } catch (error) {
    return [absent(error)];
  }
  const checks: Readonly<Record<string, () => Promise<CheckResult | CheckResult[]>>> = {
    'Redis writes': () => checkWrites(redis, keys),
    'Redis version': () => checkVersion(redis),
    'Redis settings': () => checkSettings(redis),
    'Redis disk': () => checkDisk(redis),
    'Data in Redis': () => checkInstallation(redis, keys),
    Records: () => checkRecords(fleet, scope),
    Workers: () => checkWorkers(fleet),
    Processes: () => checkProcesses(fleet),
    Daemons: () => checkDaemons(fleet),
    'Results going out': () => checkOutbound(fleet),
    'Chat platforms': () => checkPlatforms(fleet),
    Files: () => checkFiles(fleet),
    Limits: () => checkLimits(fleet),
    'Model parameters': () => checkModels(fleet),
    Clock: () => checkClock(redis, clock),
  };
  const results: CheckResult[] = [];
  for (const [name, check] of Object.entries(checks)) results.push(...[await check().catch(notChecked(name))].flat());
  return results;
}

function absent(error: unknown): CheckResult {
  const refusal = refusalOf(error);
  const name = 'Redis';
  if (refusal !== null) return { name, state: 'fail', detail: `refuses commands: ${describeRefusal(refusal)}` };
  return { name, state: 'fail', detail: `does not answer (${reasonOf(error)}): check REDIS_URL, and that the server runs` };
}

/** An ACL may leave out what only a check needs (`INFO`, `CLIENT`), which keeps no other check from being made. */
function notChecked(name: string): (error: unknown) => CheckResult {
  return (error) => ({ name, state: 'skip', detail: `could not be checked: ${reasonOf(error)}` });
}

/** A read does not show a full memory or disk, or a lost replica. */
async function checkWrites(redis: RedisClient, keys: Keys): Promise<CheckResult> {
  const name = 'Redis writes';
  try {
    await redis.set(keys.shard(0).probe, '', 'PX', PROBE_MS);
    return { name, state: 'ok', detail: 'are taken' };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null) throw error;
    return { name, state: 'fail', detail: `are refused: ${describeRefusal(refusal)}` };
  }
}

async function checkVersion(redis: RedisClient): Promise<CheckResult> {
  const text = /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? '0';
  const version = Number.parseFloat(text);
  const name = 'Redis version';
  if (version < OLDEST) return { name, state: 'fail', detail: `${text} is too old: ${OLDEST} is needed, ${RECOMMENDED} recommended` };
  if (version < RECOMMENDED) return { name, state: 'warn', detail: `${text} works, ${RECOMMENDED} is recommended` };
  return { name, state: 'ok', detail: text };
}

const EVERYSEC =
  'everysec: when the power fails, or Redis is killed while its disk is slow, up to two seconds of accepted work are lost; always closes that gap';

interface SettingRule {
  setting: string;
  judge: (value: string) => Omit<CheckResult, 'name'>;
}

const RULES: readonly SettingRule[] = [
  {
    setting: 'appendonly',
    judge: (value) =>
      value === 'yes'
        ? { state: 'ok', detail: 'yes' }
        : {
            state: 'fail',
            detail: `${value}: a Redis that ends loses all accepted work since its last snapshot; CONFIG SET appendonly yes`,
          },
  },
  {
    setting: 'appendfsync',
    judge: (value) => {
      if (value === 'always') return { state: 'ok', detail: 'always: nothing accepted is lost, also when the power fails' };
      if (value === 'everysec') return { state: 'ok', detail: EVERYSEC };
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

async function checkSettings(redis: RedisClient): Promise<CheckResult[]> {
  return Promise.all(RULES.map((rule) => checkSetting(redis, rule)));
}

async function checkSetting(redis: RedisClient, { setting, judge }: SettingRule): Promise<CheckResult> {
  const name = `Redis ${setting}`;
  const unread: CheckResult = {
    name,
    state: 'warn',
    detail: 'could not be checked, as with managed services or an ACL: check it in their console',
  };
  try {
    const reply: unknown = await redis.call('CONFIG', 'GET', setting);
    const value: unknown = Array.isArray(reply) ? reply[1] : undefined;
    return typeof value === 'string' ? { name, ...judge(value) } : unread;
  } catch {
    return unread;
  }
}

async function checkDisk(redis: RedisClient): Promise<CheckResult[]> {
  return judgeDisk(await redis.info('persistence'));
}

/**
 * Checks by `INFO persistence` whether the disk keeps up with the append-only file. With `everysec` Redis counts answers before a write
 * that waited two seconds for an fsync. No check without such a file.
 */
export function judgeDisk(info: string): CheckResult[] {
  const delayed = /^aof_delayed_fsync:(\d+)/m.exec(info)?.[1];
  const name = 'Redis disk';
  if (delayed === undefined) return [];
  if (/^aof_last_write_status:err/m.test(info)) {
    return [{ name, state: 'fail', detail: 'the last write of the append-only file failed: check the free space and the disk' }];
  }
  if (delayed === '0') return [{ name, state: 'ok', detail: 'keeps up with what Redis writes' }];
  const detail = `was too slow ${delayed} times since Redis started, when a kill loses accepted work: use a faster one, or CONFIG SET appendfsync always`;
  return [{ name, state: 'warn', detail }];
}

async function checkInstallation(redis: RedisClient, keys: Keys): Promise<CheckResult> {
  const problem = await installationProblem(redis, keys);
  const name = 'Data in Redis';
  return problem === null ? { name, state: 'ok', detail: `can be read, SHARDS=${keys.shards}` } : { name, state: 'fail', detail: problem };
}

async function checkClock(redis: RedisClient, clock: Clock): Promise<CheckResult> {
  const skewMs = await clockSkew(redis, clock);
  const name = 'Clock';
  const size = Math.abs(skewMs);
  if (size < OWN_SKEW_WARN_MS) return { name, state: 'ok', detail: `${size} ms from Redis's` };
  const detail = `this machine is ${size} ms ${skewMs > 0 ? 'ahead of' : 'behind'} Redis: synchronise both (NTP)`;
  return { name, state: size < OWN_SKEW_FAIL_MS ? 'warn' : 'fail', detail };
}

function reasonOf(error: unknown): string {
  if (error instanceof MusterError) return error.code;
  return error instanceof Error ? error.message : String(error);
}

/** A worker's clock, of which only the difference to Redis is known. */
const WORKER_SKEW_WARN_MS = 1000;

/** The workers of the fleet, and which of them have a wrong clock. */
export async function checkWorkers(fleet: RegistryPorts): Promise<CheckResult[]> {
  const workers = (await listWorkers(fleet)).filter(({ status }) => status !== 'dead');
  const skewed = workers.filter(({ skewMs }) => Math.abs(skewMs) > WORKER_SKEW_WARN_MS);
  // A hub has a heartbeat like a worker, and a check of its own.
  const running = workers.filter(({ role }) => role === 'worker').length;
  return [
    { name: 'Workers', state: 'ok', detail: running === 0 ? 'none is running' : `${running} running` },
    ...skewed.map(({ id, host, skewMs }): CheckResult => {
      const detail = `the machine ${host} is ${describeSkew(skewMs)}: synchronise its clock (NTP)`;
      return { name: `Clock of ${id}`, state: 'warn', detail };
    }),
  ];
}
