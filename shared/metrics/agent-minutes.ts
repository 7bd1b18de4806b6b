import type { Settings } from '../config/index.ts';
import { type Keys, type RedisClient, redisNow } from '../redis/index.ts';
import type { AgentSeries } from './local-counts.ts';
import type { Counts } from './stored-counts.ts';

export const MINUTE_MS = 60_000;
const ENDS = ['completed', 'failed', 'retried'] as const;
/** Fields of one agent in one minute at most. */
export const MINUTE_FIELDS = ENDS.length;

/** Adds how attempts of an agent ended, to the counters of the minute that runs. */
export function addAgentMinute(counts: Counts, agent: string, series: AgentSeries): void {
  for (const end of ENDS) if (series[end] > 0) counts.set(`${agent}|${end}`, series[end]);
}

/** How the last attempts of an agent ended. */
export interface AgentEnds {
  agent: string;
  completed: number;
  /** For good. */
  failed: number;
  /** Failed attempts that another one follows. */
  retried: number;
}

interface ReadPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
}

/** How attempts of a tenant's agents ended in the last `metrics.failingMs`, by name. */
export async function readAgentEnds({ redis, keys, settings }: ReadPorts, tenant: string): Promise<AgentEnds[]> {
  const { failingMs } = settings.metrics;
  const last = Math.floor((await redisNow(redis)) / MINUTE_MS);
  // The first of these minutes has begun before the window: it may be the only one with figures.
  const minutes = Array.from({ length: Math.ceil(failingMs / MINUTE_MS) + 1 }, (_, ago) => last - ago);
  return sumEnds(await Promise.all(minutes.map((minute) => redis.hgetall(keys.tenant(tenant).agentMinute(minute)))));
}

/** Whether `metrics.failingPercent` of an agent's attempts failed, and enough of them. */
export function isFailing(
  { completed, failed, retried }: AgentEnds,
  { failingPercent, failingAttempts }: Pick<Settings['metrics'], 'failingPercent' | 'failingAttempts'>,
): boolean {
  const fails = failed + retried;
  return fails >= failingAttempts && fails * 100 >= failingPercent * (fails + completed);
}

function sumEnds(minutes: readonly Readonly<Record<string, string>>[]): AgentEnds[] {
  const found = new Map<string, AgentEnds>();
  for (const [field, text] of minutes.flatMap((fields) => Object.entries(fields))) {
    const [agent = '', name = ''] = field.split('|');
    const ends = found.get(agent) ?? { agent, completed: 0, failed: 0, retried: 0 };
    found.set(agent, ends);
    const end = ENDS.find((each) => each === name);
    if (end !== undefined) ends[end] += Number(text);
  }
  return [...found.values()].toSorted((a, b) => (a.agent < b.agent ? -1 : 1));
}
