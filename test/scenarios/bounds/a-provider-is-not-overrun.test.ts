import { randomUUID } from 'node:crypto';
import pMap from 'p-map';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { LimitedBullmq, type LimitedBullmqOptions } from '../../bench/rivals/limited-bullmq.ts';
import { startRedis } from '../../support/redis/start-redis.ts';
import {
  type SimulatedCall,
  startProviderSimulator,
  type ProviderSimulator,
  type SimulatorOptions,
} from '../../support/agents/provider-simulator.ts';
import { firstOf, testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const PER_MINUTE = 1200;
/** A limit of tokens that is narrower: with about 210 tokens to a call, 570 calls a minute. */
const TOKENS = { perMinute: 120_000, maxOutput: 400, perCall: 210 };
const SMALL = { workers: 3, tasks: 140, endMs: 80_000, behindWall: 12, wallMs: 4000 };
const { chaosMinutes } = testEnvironment;
const FULL = { workers: 8, tasks: chaosMinutes * PER_MINUTE, endMs: 300_000 + chaosMinutes * 60_000, behindWall: 200, wallMs: 30_000 };
const SIZE = testEnvironment.isChaos ? FULL : SMALL;
const SLOTS = 12;
const AT_ONCE = 50;
/** Of the burst that the provider takes, the fleet uses less: calls come closer together on their way. */
const BURST = { ours: 0.02, theirs: 0.05 };
const PROBE_MS = 1000;

let provider: ProviderSimulator;
const closings: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  provider = await openProvider({});
});
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** What a limit counts. */
interface Rate {
  of: string;
  perMinute: number;
  amountOf: (call: SimulatedCall) => number;
}

const CALL_RATE: Rate = { of: 'calls', perMinute: PER_MINUTE, amountOf: () => 1 };
const TOKEN_RATE: Rate = { of: 'tokens', perMinute: TOKENS.perMinute, amountOf: ({ tokens }) => tokens };

const CASES = [
  { rate: CALL_RATE, open: () => openCallers(), prompts: () => promptsOf(SIZE.tasks, 'task') },
  { rate: TOKEN_RATE, open: () => openTokenCallers(), prompts: promptsOfTokens },
];

it.each(firstOf(CASES))(
  'takes calls of a fleet at its rate of $rate.of, and no attempt is spent, while a worker is killed',
  async ({ rate, open, prompts: makePrompts }) => {
    const { fleet, parts, workers } = await open();
    const prompts = makePrompts();
    const tasks = await submitAll(fleet, prompts);
    await waitFor(() => provider.calls.length > prompts.length / 3, { deadlineMs: SIZE.endMs, what: 'the first third of the calls' });
    await workers[0]?.kill();
    await expectEnds(fleet, tasks);
    // A process that was stopped for seconds sends late, and together what was spread. Without a throttle most of a burst is refused.
    expect(refused().length).toBeLessThan(prompts.length / 20);
    const lost = new Set(
      workers.flatMap(({ lines }) => lines.flatMap(({ event, task }) => (event === 'task.orphaned' ? [`${task}`] : []))),
    );
    const lostPrompts = new Set(prompts.filter((_, number) => lost.has(tasks[number] ?? '')));
    reportFigure(
      `calls of ${prompts.length} tasks under a rate of ${rate.perMinute} ${rate.of} a minute`,
      `${usedShare(rate, lostPrompts)}, ${refusals()}, one worker killed with ${lost.size} tasks`,
    );
    await expectNothingIsLeft(parts);
  },
);

it('has one call that tries for all while it is out of quota', async () => {
  const { fleet, parts } = await openCallers();
  const prompts = promptsOf(SIZE.behindWall, 'task');
  const early = await submitAll(fleet, prompts);
  await waitFor(() => provider.calls.length > SIZE.behindWall / 4, { deadlineMs: SIZE.endMs, what: 'the first calls' });
  await provider.wall();
  const before = provider.calls.length;
  const first = [...early, ...(await submitAll(fleet, ['a task after those whose calls may have been answered']))];
  const isKnown = async (): Promise<boolean> => (await walls(parts)) > 0 && (await openCalls(parts)) === 0;
  await waitFor(isKnown, { deadlineMs: SIZE.endMs, what: 'the wall to be known, and no call from before to be under way' });
  const metIt = refused().length;
  const later = await submitAll(
    fleet,
    prompts.map((prompt) => `${prompt}, later`),
  );
  const [{ at: refusedAt } = { at: 0 }] = provider.calls.slice(before);
  const triedAt = (): number => provider.calls.at(-1)?.at ?? 0;
  await waitFor(() => triedAt() > refusedAt + SIZE.wallMs / 2, { deadlineMs: SIZE.endMs, what: 'some calls that try' });
  const stoodMs = (await provider.lift()) - refusedAt;
  const tries = refused().length - metIt;
  // One call after 1, 2, 4 seconds and so on.
  expect(tries).toBeLessThanOrEqual(Math.ceil(Math.log2(stoodMs / PROBE_MS + 1)));
  await expectEnds(fleet, [...first, ...later]);
  reportFigure(
    `calls into a wall of ${Math.round(stoodMs)} ms with ${first.length + later.length} tasks`,
    `${metIt} at once, then ${tries} that tried`,
  );
  await expectNothingIsLeft(parts);
});

it.runIf(testEnvironment.isChaos)('beside raw BullMQ with its limiter', async () => {
  const raw = await openRaw({ max: PER_MINUTE / 60, duration: 1000 });
  const ended = await raw.process(promptsOf(SIZE.tasks, 'call'), SIZE.endMs);
  expect(ended.completed + ended.failed).toBe(SIZE.tasks);
  reportFigure(`raw BullMQ: ${SIZE.tasks} jobs`, `${usedShare(CALL_RATE)}, ${refusals()}, ${ended.failed} jobs failed`);
  await provider.wall();
  const before = provider.calls.length;
  const behind = await raw.process(promptsOf(SIZE.behindWall, 'call'), SIZE.endMs);
  reportFigure(
    `raw BullMQ: ${SIZE.behindWall} jobs behind a wall`,
    `${provider.calls.length - before} calls into it, ${behind.failed} failed`,
  );
});

it.runIf(testEnvironment.isChaos)(
  'beside raw BullMQ with its limiter, which knows no tokens, at the calls that their rate has room for',
  async () => {
    provider = await openTokenProvider();
    const max = Math.round(TOKENS.perMinute / TOKENS.perCall / 60);
    const raw = await openRaw({ max, duration: 1000 }, TOKENS.maxOutput);
    const prompts = promptsOfTokens();
    const ended = await raw.process(prompts, SIZE.endMs);
    expect(ended.completed + ended.failed).toBe(prompts.length);
    reportFigure(
      `raw BullMQ: ${prompts.length} jobs under a rate of tokens`,
      `${usedShare(TOKEN_RATE)}, ${refusals()}, ${ended.failed} jobs failed`,
    );
  },
);

async function openProvider(options: Pick<SimulatorOptions, 'tokens'>): Promise<ProviderSimulator> {
  const opened = await startProviderSimulator({
    requestsPerMinute: PER_MINUTE,
    burst: BURST.theirs * PER_MINUTE,
    answerMs: 200,
    ...options,
  });
  closings.push(() => opened.close());
  return opened;
}

async function openTokenProvider(): Promise<ProviderSimulator> {
  return await openProvider({ tokens: { perMinute: TOKENS.perMinute, burst: BURST.theirs * TOKENS.perMinute } });
}

async function openRaw(limiter: LimitedBullmqOptions['limiter'], maxTokens?: number): Promise<LimitedBullmq> {
  const redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec'] });
  closings.push(() => redis.stop());
  const bound = maxTokens === undefined ? {} : { maxTokens };
  const raw = new LimitedBullmq({ url: redis.url, baseUrl: provider.baseUrl, workers: SIZE.workers, slots: SLOTS, limiter, ...bound });
  closings.push(() => raw.close());
  return raw;
}

function promptsOf(count: number, name: string): string[] {
  return Array.from({ length: count }, (_, number) => `${name} ${number}`);
}

/** Of 20 to 400 tokens of output; as many as the rate of tokens has room for while that of calls would be half used. */
function promptsOfTokens(): string[] {
  const count = Math.round((SIZE.tasks * TOKENS.perMinute) / TOKENS.perCall / PER_MINUTE);
  const outputs = Array.from({ length: count }, (_, number) => 20 + ((number * 97) % 381));
  return outputs.map((tokens, number) => `task ${number}: answer with ${tokens} tokens`);
}

interface Callers {
  fleet: Fleet;
  parts: Parts;
  workers: ServiceProcess[];
}

interface CallersOptions {
  tokensPerMinute?: number;
  maxOutputTokens: number;
}

/** The same under a limit of tokens. */
async function openTokenCallers(): Promise<Callers> {
  provider = await openTokenProvider();
  return await openCallers({ tokensPerMinute: TOKENS.perMinute, maxOutputTokens: TOKENS.maxOutput });
}

/** A fleet whose workers call the provider, at the rate that it allows. */
async function openCallers({ maxOutputTokens, ...tokens }: CallersOptions = { maxOutputTokens: 10 }): Promise<Callers> {
  const { baseUrl } = provider;
  const fleet = await openFleet({
    settings: {
      agents: { model: { kind: 'openai', baseUrl, apiKey: 'key', model: 'simulated', maxOutputTokens } },
      providers: { simulated: { baseUrl, requestsPerMinute: PER_MINUTE, ...tokens } },
      throttle: { burst: BURST.ours, callLeaseMs: 2000, probeMs: PROBE_MS },
      queues: { tasks: { slots: SLOTS } },
      // So that a busy machine loses no tasks but those of the worker that is killed.
      worker: { leaseMs: 4000 },
      limits: { tenant: { waiting: 2 * (SIZE.tasks + SIZE.behindWall) } },
    },
  });
  closings.push(() => fleet.stop());
  await fleet.start('api');
  const workers = await Promise.all(Array.from({ length: SIZE.workers }, () => fleet.start('worker')));
  const parts = await openTestParts({ redisUrl: fleet.redis.url });
  closings.push(() => parts.close());
  return { fleet, parts, workers };
}

/** As a program does: where Redis was too slow for an answer, it asks again under the same key. */
async function submitOnce(fleet: Fleet, input: string): Promise<string> {
  const headers = { 'idempotency-key': randomUUID() };
  const isTaken = async (): Promise<string | undefined> => {
    const { status, body } = await fleet.client.call('POST', '/v1/tasks', { headers, body: { agent: 'model', input } });
    if (![200, 202, 503].includes(status)) throw new Error(`expected 202, got ${status}: ${JSON.stringify(body)}`);
    return status === 503 ? undefined : String(body.id);
  };
  return await waitFor(isTaken, { deadlineMs: 30_000, everyMs: 500, what: 'a 202' });
}

async function submitAll(fleet: Fleet, prompts: readonly string[]): Promise<string[]> {
  return await pMap(prompts, (input) => submitOnce(fleet, input), { concurrency: AT_ONCE });
}

/** Each in its first attempt. */
async function expectEnds(fleet: Fleet, tasks: readonly string[]): Promise<void> {
  const ended = await fleet.client.ended(tasks, SIZE.endMs);
  expect(ended.filter(({ status, attempt }) => status !== 'completed' || attempt !== 1)).toEqual([]);
}

/**
 * How much of the allowed rate the calls used as long as tasks waited for it. Tasks of a killed worker do not: they come back when their
 * leases have ended, and run isolated.
 */
function usedShare({ perMinute, amountOf }: Rate, lost: ReadonlySet<string> = new Set()): string {
  const all = provider.calls.filter(({ refusal }) => refusal === null);
  const taken = all.slice(0, all.findLastIndex(({ prompt }) => !lost.has(prompt)) + 1);
  const [from, to] = [taken[0]?.at ?? 0, taken.at(-1)?.at ?? 0];
  const allowed = BURST.ours * perMinute + ((to - from) * perMinute) / 60_000;
  const used = taken.reduce((total, call) => total + amountOf(call), 0);
  return `${Math.round((100 * used) / allowed)} % of the rate used`;
}

function refused(): SimulatedCall[] {
  return provider.calls.filter(({ refusal }) => refusal !== null);
}

/** Of refused calls in a sentence. */
const SHOWN = 5;

/** How many calls were refused, and for the first ones by which limit and when after the first call. */
function refusals(): string {
  const [first] = provider.calls;
  const inWords = ({ at, refusal }: SimulatedCall): string => `${refusal} at ${((at - (first?.at ?? 0)) / 1000).toFixed(1)} s`;
  const more = refused().length - SHOWN;
  const shown = refused().slice(0, SHOWN).map(inWords);
  return [`${refused().length} calls refused`, ...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

/** Refusals of models, accounts and endpoints that stand until a call has tried. */
async function walls({ redis, keys }: Parts): Promise<number> {
  const found = await redis.keys(`${keys.fleet.throttleBlock('')}*`);
  return (await Promise.all(found.map((key) => redis.hget(key, 'block')))).filter((kind) => kind === 'wall').length;
}

async function openCalls({ redis }: Parts): Promise<number> {
  const found = await redis.keys('*throttle-calls*');
  const counts = await Promise.all(found.map((key) => redis.zcount(key, Date.now(), '+inf')));
  return counts.reduce((total, count) => total + count, 0);
}

/** No call counts as under way, no place is kept, and nobody waits. */
async function expectNothingIsLeft(parts: Parts): Promise<void> {
  const { redis, keys } = parts;
  const left = async (): Promise<string[]> => {
    const [reserved, waits] = await Promise.all([redis.keys('*throttle-reserved*'), redis.zrange(keys.fleet.throttleWaits, '0', '-1')]);
    const running = await openCalls(parts);
    return [...reserved, ...waits, ...(running > 0 ? [`${running} calls`] : [])];
  };
  await waitFor(async () => (await left()).length === 0, { deadlineMs: 20_000, what: 'nothing to be left' });
}
