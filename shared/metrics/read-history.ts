import { redisNow } from '../redis/index.ts';
import { type ReadGauges, readGauges } from './gauges.ts';
import { type Histogram, quantileOf, sizeOf } from './histogram.ts';
import type { ReadPorts } from './read-metrics.ts';
import { sumMinutes } from './stored-counts.ts';

/** What a tenant or the fleet did in one minute. */
export interface MinuteFigures extends ReadGauges {
  /** When it began, ms since the epoch. */
  at: number;
  accepted: number;
  completed: number;
  /** For good. */
  failed: number;
  retried: number;
  costMicroUsd: number;
  waited: DurationQuantiles | null;
  ran: DurationQuantiles | null;
}

export interface DurationQuantiles {
  p50Ms: number;
  p95Ms: number;
}

const MINUTE_MS = 60_000;
/** Minutes read together: Redis answers no one else meanwhile. */
const TOGETHER = 120;
const [P50, P95] = [0.5, 0.95];

/** Reads the last minutes, oldest first, the one that runs included; `tenant` null is the fleet. */
export async function readHistory(
  { redis, keys }: Omit<ReadPorts, 'settings'>,
  tenant: string | null,
  minutes: number,
): Promise<MinuteFigures[]> {
  const last = Math.floor((await redisNow(redis)) / MINUTE_MS);
  const own = tenant === null ? keys.fleet : keys.tenant(tenant);
  const figures: MinuteFigures[] = [];
  for (let minute = last - minutes + 1; minute <= last; minute += TOGETHER) {
    const page = Array.from({ length: Math.min(TOGETHER, last - minute + 1) }, (_, position) => minute + position);
    const stored = await Promise.all(page.map((each) => redis.hgetall(own.metricMinute(each))));
    figures.push(...stored.map((fields, position) => figuresOf((page[position] ?? 0) * MINUTE_MS, fields)));
  }
  return figures;
}

function figuresOf(at: number, fields: Readonly<Record<string, string>>): MinuteFigures {
  const { counts, waited, ran } = sumMinutes([fields]);
  const countOf = (field: string): number => counts.get(field) ?? 0;
  return {
    at,
    accepted: countOf('accepted'),
    completed: countOf('ended|completed'),
    failed: countOf('ended|permanently_failed'),
    retried: countOf('retried'),
    costMicroUsd: countOf('cost'),
    waited: quantilesOf(waited),
    ran: quantilesOf(ran),
    ...readGauges(fields),
  };
}

function quantilesOf(histogram: Histogram): DurationQuantiles | null {
  if (sizeOf(histogram) === 0) return null;
  return { p50Ms: Math.round(quantileOf(histogram, P50)), p95Ms: Math.round(quantileOf(histogram, P95)) };
}
