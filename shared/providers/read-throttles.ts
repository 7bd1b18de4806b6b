import pMap from 'p-map';
import { redisNow } from '../redis/index.ts';
import { type ParameterChanges, parseChanges } from './learned-parameters.ts';
import type { ThrottledModel, ThrottlePorts } from './throttle-scripts.ts';
import { findThrottled, keysOf, THROTTLE_BANDS } from './throttle-scripts.ts';

/** A refusal that stands. */
export interface StandingBlock {
  kind: 'cooldown' | 'wall';
  scope: 'model' | 'account' | 'endpoint';
  reason: string;
  sinceMs: number;
  /** The end of a cool-down; of a wall, the time from which on one call tries. */
  untilMs: number;
  /** The call that tries now, or the tenant whose task was released to do so; null for none. */
  probe: string | null;
}

/** What a model of an account may be called, and is. */
export interface ThrottleView extends ThrottledModel {
  id: string;
  /** The current limits, configured or learned; null for none that is known. */
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  concurrent: number | null;
  isLearned: boolean;
  /** Booked in the last minute. */
  requests: number;
  tokens: number;
  /** Calls under way. */
  running: number;
  /** Tenants with tasks that wait for it. */
  waitingTenants: number;
  /** Tasks that wait for it. */
  waitingTasks: number;
  /** Where only its rate holds calls back: when the next may go, and the time from one to the next, ms; null else. */
  pace: { nextMs: number; eachMs: number } | null;
  block: StandingBlock | null;
  /** What its server refused. */
  parameters: ParameterChanges;
  lastCallMs: number;
}

const CONCURRENCY = 20;
const WINDOW_S = 60;
const MINUTE_MS = 60_000;

/** Every model that was called lately, the last one first, at most `max`. */
export async function listThrottles(ports: ThrottlePorts, max: number): Promise<ThrottleView[]> {
  const ids = await ports.redis.zrevrange(ports.keys.fleet.throttles, '0', `${max - 1}`);
  const views = await pMap(ids, (id) => readThrottle(ports, id), { concurrency: CONCURRENCY });
  return views.filter((view) => view !== null);
}

/** One of them by its id, which is also what holds the tasks that wait for it; null when it was forgotten. */
export async function readThrottle(ports: ThrottlePorts, id: string): Promise<ThrottleView | null> {
  const { redis } = ports;
  const target = await findThrottled(ports, id);
  if (target === null) return null;
  const keys = keysOf(ports, target);
  const now = await redisNow(redis);
  const [state, window, running, account, endpoint, turns, lastCall, ...waiting] = await Promise.all([
    redis.hgetall(keys.state),
    redis.hgetall(keys.window),
    redis.zcount(keys.calls, now, '+inf'),
    redis.hgetall(keys.account),
    redis.hgetall(keys.endpoint),
    redis.hgetall(keys.turns),
    redis.zscore(keys.throttles, id),
    ...THROTTLE_BANDS.map((_, position) => redis.zcard(keys.flows[position] ?? '')),
  ]);
  const { requestsPerMinute, tokensPerMinute, concurrent } = target.account.limits;
  const guess = Number(state['guess_until'] ?? 0) > now ? state['guess'] : undefined;
  const blocks = [blockOf(state, 'model', now), blockOf(account, 'account', now), blockOf(endpoint, 'endpoint', now)];
  const block = blocks.filter((each) => each !== null).toSorted((a, b) => b.untilMs - a.untilMs)[0] ?? null;
  const rates = {
    requests: least(requestsPerMinute, state['learned_requests'], guess),
    tokens: least(tokensPerMinute, state['learned_tokens']),
  };
  return {
    ...target,
    id,
    requestsPerMinute: rates.requests,
    tokensPerMinute: rates.tokens,
    concurrent: concurrent ?? null,
    isLearned: requestsPerMinute === undefined && tokensPerMinute === undefined,
    ...usedOf(window, now),
    running,
    waitingTenants: waiting.reduce((total, count) => total + count, 0),
    waitingTasks: waitingTasks(turns),
    pace: block === null && state['because'] !== 'concurrent' ? paceOf(ports, state, rates, now) : null,
    block,
    parameters: parseChanges(state['parameters']),
    lastCallMs: Number(lastCall ?? 0),
  };
}

/** The counts of the flows, as `include/flows.lua` keeps them. */
function waitingTasks(turns: Readonly<Record<string, string>>): number {
  return Object.entries(turns).reduce((total, [field, count]) => total + (field.startsWith('n:') ? Math.max(0, Number(count)) : 0), 0);
}

function paceOf(
  { settings }: ThrottlePorts,
  state: Readonly<Record<string, string>>,
  { requests, tokens }: { requests: number | null; tokens: number | null },
  now: number,
): ThrottleView['pace'] {
  const { average = '0', last = '0', requests_at: requestsAt = '0', tokens_at: tokensAt = '0' } = state;
  const eachMs = Math.max(requests === null ? 0 : MINUTE_MS / requests, tokens === null ? 0 : (Number(average) * MINUTE_MS) / tokens);
  const spreadFrom = Math.max(requests === null ? 0 : Number(requestsAt), tokens === null ? 0 : Number(tokensAt));
  return eachMs === 0 ? null : { eachMs, nextMs: Math.max(now, Number(last), spreadFrom - settings.throttle.burst * MINUTE_MS) };
}

function least(...limits: (number | string | undefined)[]): number | null {
  const known = limits.filter((limit) => limit !== undefined).map(Number);
  return known.length > 0 ? Math.min(...known) : null;
}

/** A wall stands until a call gets past it; a cool-down ends with its time. */
function blockOf(fields: Readonly<Record<string, string>>, scope: StandingBlock['scope'], now: number): StandingBlock | null {
  const { block: kind, block_until: until = '0', reason = '', since = '0', probe, probe_until: probeUntil = '0' } = fields;
  if (kind !== 'wall' && (kind !== 'cooldown' || Number(until) <= now)) return null;
  const isTried = probe !== undefined && Number(probeUntil) > now;
  return { kind, scope, reason, sinceMs: Number(since), untilMs: Number(until), probe: isTried ? probe : null };
}

function usedOf(window: Readonly<Record<string, string>>, now: number): { requests: number; tokens: number } {
  const second = Math.floor(now / 1000);
  const used = { r: 0, t: 0 };
  for (const [field, count] of Object.entries(window)) {
    const at = Number(field.slice(1));
    if (at > second - WINDOW_S && at <= second) used[field.startsWith('r') ? 'r' : 't'] += Number(count);
  }
  return { requests: used.r, tokens: used.t };
}
