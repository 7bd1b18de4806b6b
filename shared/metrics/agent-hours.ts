import type { Settings } from '../config/index.ts';
import { type Keys, type RedisClient, redisNow } from '../redis/index.ts';
import { DEFAULT_TENANT } from '../tenants/index.ts';
import { BUCKETS_MS, createHistogram, type Histogram, quantileOf, sizeOf } from './histogram.ts';
import type { AgentSeries } from './local-counts.ts';
import { addHistogram, type Counts, setBucket } from './stored-counts.ts';

export const HOUR_MS = 3_600_000;
const PLAIN = ['attempts', 'completed', 'failed', 'retried', 'cost'] as const;
/** Fields of one agent in one hour at most: the plain ones, when it was active last, and the buckets, sum and maximum of its runs. */
export const AGENT_FIELDS = PLAIN.length + 1 + BUCKETS_MS.length + 3;
/** Hours read together: Redis answers no one else meanwhile. */
const TOGETHER = 48;
const P50 = 0.5;
const P95 = 0.95;

/** How long the figures of a tenant's agents can be read. */
export function agentsKeptMs({ metrics }: Pick<Settings, 'metrics'>, tenant: string): number {
  // A fleet may have thousands of tenants.
  return tenant === DEFAULT_TENANT ? metrics.agentsMs : metrics.tenantAgentsMs;
}

/** Adds what an agent did, to the counters of the hour of `now`. */
export function addAgentHour(counts: Counts, agent: string, { ran, costMicroUsd, ...plain }: AgentSeries, now: number): void {
  for (const [name, count] of Object.entries({ ...plain, cost: costMicroUsd })) if (count > 0) counts.set(`${agent}|${name}`, count);
  addHistogram(counts, `${agent}|ran`, ran);
  counts.set(`${agent}|ran|max`, Math.ceil(ran.maxMs));
  counts.set(`${agent}|last|max`, now);
}

/** What an agent of a tenant did in a window. */
export interface AgentFigures extends Record<(typeof PLAIN)[number], number> {
  agent: string;
  ran: { p50Ms: number; p95Ms: number } | null;
  /** When its last attempt ended, within seconds; ms since the epoch. */
  lastAt: number;
}

/** The figures of agents, by name. */
export interface AgentWindow {
  items: AgentFigures[];
  /** The first hour begins, and the last one ends; ms since the epoch. */
  since: number;
  until: number;
}

interface ReadPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
}

/** Reads what the agents of a tenant did in the last hours, the one that runs included; no further back than they are kept. */
export async function readAgentFigures({ redis, keys, settings }: ReadPorts, tenant: string, hours: number): Promise<AgentWindow> {
  const last = Math.floor((await redisNow(redis)) / HOUR_MS);
  const first = last - Math.min(hours, Math.ceil(agentsKeptMs(settings, tenant) / HOUR_MS)) + 1;
  const found = new Map<string, Sums>();
  for (let hour = first; hour <= last; hour += TOGETHER) {
    const page = Array.from({ length: Math.min(TOGETHER, last - hour + 1) }, (_, position) => hour + position);
    const stored = await Promise.all(page.map((each) => redis.hgetall(keys.tenant(tenant).agentHour(each))));
    for (const fields of stored) addHour(found, fields);
  }
  const items = [...found].map(([agent, sums]): AgentFigures => Object.assign(sums, { agent, ran: quantilesOf(sums.ran) }));
  return { items: items.toSorted((a, b) => (a.agent < b.agent ? -1 : 1)), since: first * HOUR_MS, until: (last + 1) * HOUR_MS };
}

type Sums = Omit<AgentFigures, 'agent' | 'ran'> & { ran: Histogram };

function addHour(found: Map<string, Sums>, fields: Readonly<Record<string, string>>): void {
  for (const [field, text] of Object.entries(fields)) {
    const [agent = '', name = '', bucket = ''] = field.split('|');
    const sums = found.get(agent) ?? { attempts: 0, completed: 0, failed: 0, retried: 0, cost: 0, lastAt: 0, ran: createHistogram() };
    found.set(agent, sums);
    const plain = PLAIN.find((each) => each === name);
    if (plain !== undefined) sums[plain] += Number(text);
    else if (name === 'ran') setBucket(sums.ran, bucket, Number(text));
    else if (name === 'last') sums.lastAt = Math.max(sums.lastAt, Number(text));
  }
}

function quantilesOf(histogram: Histogram): AgentFigures['ran'] {
  if (sizeOf(histogram) === 0) return null;
  return { p50Ms: Math.round(quantileOf(histogram, P50)), p95Ms: Math.round(quantileOf(histogram, P95)) };
}
