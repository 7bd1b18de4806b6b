import { z } from 'zod';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { DATA_FORM, DATA_LEVEL, pairs, redisNow } from '../../redis/index.ts';

interface ProcessPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

const processSchema = z.object({
  /** Of a service of its own, `<service>@<host>:<pid>`. */
  id: z.string(),
  services: z.array(z.string()),
  /** By its own clock, ms since the epoch. */
  startedAt: z.number(),
  release: z.string(),
  /** Its configuration by release and content; see `configurationOf`. */
  configuration: z.string(),
  /** The release of its time zone data, as `2026c`; empty without any. */
  zoneData: z.string(),
  /** Names the key that it seals with; absent for none. */
  sealKey: z.string().optional(),
  /** What of the data it knows, as `DATA_LEVEL` says; absent for 0.2.0. Written with each beat. */
  level: z.int().optional(),
});
/** What a process is from its start to its end. Workers and hubs have a heartbeat besides, with what they do. */
export type ProcessIdentity = z.infer<typeof processSchema>;

/** With what keeps it from taking work, as its `/readyz` has it. */
export interface ProcessRecord extends ProcessIdentity {
  problems: string[];
}

const problemsSchema = z.array(z.string());

export const PROCESS_BEAT_MS = 3000;
/** A process that missed three beats is taken for dead. */
export const SILENT_MS = 3.5 * PROCESS_BEAT_MS;
const KEEP_MS = 3_600_000;
/** Processes that are read. */
const MAX_READ = 2000;

/** Writes the beat of a process, by Redis's clock, with what keeps it from taking work; null leaves what was written of that. */
export async function beatProcess(
  { redis, keys }: ProcessPorts,
  identity: ProcessIdentity,
  problems: readonly string[] | null = [],
  now?: number,
): Promise<void> {
  const { processes, processProblems } = keys.fleet;
  await redis.zadd(processes, now ?? (await redisNow(redis)), memberOf(identity));
  if (problems === null) return;
  if (problems.length === 0) await redis.hdel(processProblems, identity.id);
  else await redis.multi().hset(processProblems, identity.id, JSON.stringify(problems)).pexpire(processProblems, KEEP_MS).exec();
}

/** Removes processes whose beats ended long before `now`, of Redis's clock. */
export async function forgetProcesses({ redis, keys }: ProcessPorts, now: number): Promise<void> {
  await redis.zremrangebyscore(keys.fleet.processes, '-inf', now - KEEP_MS);
}

/** With the form of the data that it writes, because a release of another form does not start beside it; and what of that it knows. */
function memberOf(identity: ProcessIdentity): string {
  return JSON.stringify({ ...identity, form: DATA_FORM, level: DATA_LEVEL });
}

/** Removes a process that ends. */
export async function removeProcess({ redis, keys }: ProcessPorts, identity: ProcessIdentity): Promise<void> {
  const { processes, processProblems } = keys.fleet;
  await redis.multi().zrem(processes, memberOf(identity)).hdel(processProblems, identity.id).exec();
}

/** The processes that live, by their beats, the newest beat first. One of another form than this release writes is left out. */
export async function listProcesses({ redis, keys }: ProcessPorts): Promise<ProcessRecord[]> {
  const { processes, processProblems } = keys.fleet;
  const since = (await redisNow(redis)) - SILENT_MS;
  const [found, problems] = await Promise.all([
    redis.zrevrangebyscore(processes, '+inf', since, 'WITHSCORES', 'LIMIT', 0, MAX_READ),
    redis.hgetall(processProblems),
  ]);
  const identities = pairs(found).flatMap(([text]) => parse(processSchema, text) ?? []);
  return identities.map((identity) => Object.assign(identity, { problems: parse(problemsSchema, problems[identity.id] ?? '[]') ?? [] }));
}

function parse<Value>(schema: z.ZodType<Value>, text: string): Value | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
