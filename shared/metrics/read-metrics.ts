import type { Settings } from '../config/index.ts';
import { type Keys, type RedisClient, redisNow } from '../redis/index.ts';
import { type Histogram, meanOf, quantileOf } from './histogram.ts';
import { type Counts, readFamilies, type StoredFamily, sumMinutes } from './stored-counts.ts';

export interface ReadPorts {
  redis: RedisClient;
  keys: Keys;
  settings: Settings;
}

/** What the fleet counted since it is installed. */
export async function readFleetCounts({ redis, keys }: Pick<ReadPorts, 'redis' | 'keys'>): Promise<StoredFamily[]> {
  return readFamilies(await redis.hgetall(keys.fleet.metrics));
}

/** What happened lately, of a tenant or of the fleet. */
export interface Throughput {
  /** Tasks in the last minute. */
  acceptedPerMinute: number;
  completedPerMinute: number;
  failedPerMinute: number;
  /** Over `metrics.windowMs`. */
  waited: DurationSummary;
  ran: DurationSummary;
  /** Of the attempts that ended by themselves: attempts that another one followed, and timeouts. */
  retryRate: number;
  timeoutRate: number;
  /** Of the tasks that ended by their attempts: permanently failed ones. */
  failureRate: number;
}

interface DurationSummary {
  meanMs: number;
  p99Ms: number;
}

const MINUTE_MS = 60_000;
const P99 = 0.99;

/** Reads what happened lately; `tenant` null is the fleet. */
export async function readThroughput({ redis, keys, settings }: ReadPorts, tenant: string | null): Promise<Throughput> {
  const now = await redisNow(redis);
  const minute = Math.floor(now / MINUTE_MS);
  const own = tenant === null ? keys.fleet : keys.tenant(tenant);
  const count = Math.ceil(settings.metrics.windowMs / MINUTE_MS) + 1;
  const minutes = await Promise.all(Array.from({ length: count }, (_, back) => redis.hgetall(own.metricMinute(minute - back))));
  const [current = {}, previous = {}] = minutes;
  // A minute that slides: of the one before, the part that is not over yet.
  const left = 1 - (now % MINUTE_MS) / MINUTE_MS;
  const perMinute = (field: string): number => Math.round(Number(current[field] ?? 0) + left * Number(previous[field] ?? 0));
  const { counts, waited, ran } = sumMinutes(minutes);
  return {
    acceptedPerMinute: perMinute('accepted'),
    completedPerMinute: perMinute('ended|completed'),
    failedPerMinute: perMinute('ended|permanently_failed'),
    waited: summaryOf(waited),
    ran: summaryOf(ran),
    ...ratesOf(counts),
  };
}

function summaryOf(histogram: Histogram): DurationSummary {
  return { meanMs: Math.round(meanOf(histogram)), p99Ms: Math.round(quantileOf(histogram, P99)) };
}

function ratesOf(counts: Counts): Pick<Throughput, 'retryRate' | 'timeoutRate' | 'failureRate'> {
  const of = (field: string): number => counts.get(field) ?? 0;
  const timeouts = of('attempts|timeout');
  const attempts = of('attempts|success') + of('attempts|failed') + timeouts;
  const failed = of('ended|permanently_failed');
  return {
    retryRate: shareOf(of('retried'), attempts),
    timeoutRate: shareOf(timeouts, attempts),
    failureRate: shareOf(failed, failed + of('ended|completed')),
  };
}

/** From 0 to 1, with four digits. */
function shareOf(part: number, all: number): number {
  return all === 0 ? 0 : Math.round((part / all) * 10_000) / 10_000;
}
