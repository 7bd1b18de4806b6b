import { PerformanceObserver } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { generateText, streamText } from 'ai';
import { createModelFetch } from '#shared/agents/kinds/openai-endpoint.ts';
import { openModelSource } from '#shared/agents/model-source.ts';
import { budgetSchema } from '#shared/config/settings/budget-settings.ts';
import type { AgentModel } from '#shared/config/define-config.ts';
import { leaseMember } from '#shared/ledger/claim/leases.ts';
import type { AttemptModels } from '#shared/models/attempt-models.ts';
import { ModelCalls } from '#shared/models/model-calls.ts';
import { accountOf } from '#shared/providers/account.ts';
import { newTaskId } from '#shared/tasks/ids.ts';
import { openTestParts } from '../support/open-test-parts.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { progress, readSize } from './bench-options.ts';
import { HttpService } from './fleets/http-service.ts';
import { inFlight } from './in-flight.ts';
import { print, printHeading } from './print.ts';
import { percentile } from './statistics.ts';

// What the gateway adds to a model call: throttle, circuit and two budgets, beside the same call of the AI SDK without them.
const CALLS = readSize(1, 2000);
const WARM = Math.ceil(CALLS / 10);
const TENANT = 'default';
const FAR = 1e12;

const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'] });
const file = fileURLToPath(new URL('fixtures/model-provider.ts', import.meta.url));
const provider = await HttpService.start({ file, key: '', connections: 1 });
const baseUrl = `${provider.url}/v1`;
const parts = await openTestParts({
  redisUrl: server.url,
  settings: { models: { m: { inputUsdPerMTok: 1, outputUsdPerMTok: 4 } } },
});
const { redis, keys, ledger, throttle, budgets, log, config } = parts;
for (const [id, rule] of Object.entries({ day: { scope: 'tenant', per: 'day' }, month: { scope: 'agent', of: 'writer', per: 'month' } })) {
  await budgets.put(TENANT, id, budgetSchema.parse({ ...rule, hardMicroUsd: FAR }));
}
const modelCalls = new ModelCalls({ redis, keys, ledger, throttle, budgets, log, settings: config.settings });
const fetchFor = createModelFetch({
  fleetId: () => Promise.resolve('bench'),
  directory: '.',
  openaiBaseUrl: baseUrl,
  openaiApiKey: 'sk',
  readSecret: () => undefined,
  allowNetworks: [],
  maxResponseBytes: 1_000_000,
});
const source = openModelSource({
  baseUrl,
  apiKey: 'sk',
  name: 'm',
  account: accountOf({}, { baseUrl, apiKey: 'sk', isOperators: true }),
  fetch: fetchFor(baseUrl),
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  ownCostOf: () => undefined,
});

/** The model calls of an attempt that runs under a lease. */
async function openAttempt(): Promise<AttemptModels> {
  const ref = { tenant: TENANT, id: newTaskId(), token: 1, lane: null };
  await redis.zadd(keys.shard(keys.shardOf(TENANT)).leases, Date.now() + FAR, leaseMember(ref));
  const signal = new AbortController().signal;
  return modelCalls.open({
    caller: {
      ref,
      agent: 'writer',
      subject: { tenant: TENANT, agent: 'writer', session: null, scheduleId: null, rootTaskId: ref.id, keyId: null },
      band: 'normal',
      weight: 1,
    },
    signal: () => signal,
    onUsage: () => undefined,
    onNote: () => undefined,
    redact: (text) => text,
  });
}

const PROMPT = { prompt: 'Summarize what happened yesterday, in one line.', maxOutputTokens: 100, maxRetries: 0 };
const KINDS = {
  'at once': async (model: AgentModel) => void (await generateText({ model, ...PROMPT })),
  streamed: async (model: AgentModel) => await streamText({ model, ...PROMPT }).consumeStream(),
} as const;
type Call = (model: AgentModel) => Promise<void>;

const direct = source.modelFor(source.name);
const gated = (await openAttempt()).wrap(source);

async function msOf(call: Call, model: AgentModel): Promise<number> {
  const start = performance.now();
  await call(model);
  return performance.now() - start;
}

interface Times {
  direct: number[];
  gated: number[];
}

/** Calls in pairs, first the one and then the other in turn. */
async function timePairs(call: Call, count: number, atOnce: number): Promise<Times> {
  const times: Times = { direct: [], gated: [] };
  await inFlight(count, atOnce, async (index) => {
    const order = index % 2 === 0 ? (['direct', 'gated'] as const) : (['gated', 'direct'] as const);
    for (const which of order) {
      times[which].push(await msOf(call, which === 'direct' ? direct : gated));
      // What the gateway settles meanwhile is not to be in the time of the next call.
      await redis.ping();
    }
  });
  return times;
}

/** Pauses of this process for its garbage, ms. */
const pauses: number[] = [];
const collections = new PerformanceObserver((list) => pauses.push(...list.getEntries().map(({ duration }) => duration)));

/** What the gateway added at p99, by measurement. */
const added = new Map<string, number>();
const GOAL_MS = 2;

function printTimes(name: string, times: Times): void {
  added.set(name, percentile(times.gated, 0.99) - percentile(times.direct, 0.99));
  const cells = [0.5, 0.99].flatMap((share) => {
    const [without, through] = [percentile(times.direct, share), percentile(times.gated, share)];
    return [without.toFixed(2), through.toFixed(2), (through - without).toFixed(2), (through / without).toFixed(2)];
  });
  print(`${name.padEnd(26)}${cells.map((cell) => cell.padStart(9)).join('')}`);
}

/** The floor of what a call has to wait for: one trip to Redis, and a script that does nothing. */
async function printFloor(): Promise<void> {
  const trips: Record<string, () => Promise<unknown>> = { PING: () => redis.ping(), 'empty script': () => redis.eval('return 1', 0) };
  for (const [name, trip] of Object.entries(trips)) {
    const times: number[] = [];
    await inFlight(CALLS, 1, async () => {
      const start = performance.now();
      await trip();
      times.push(performance.now() - start);
    });
    print(`A trip to Redis, ${name}: p50 ${percentile(times, 0.5).toFixed(2)} ms, p99 ${percentile(times, 0.99).toFixed(2)} ms`);
  }
}

function printVerdict(): void {
  print(
    `Garbage: ${pauses.length} pauses, p50 ${percentile(pauses, 0.5).toFixed(2)} ms, p99 ${percentile(pauses, 0.99).toFixed(2)} ms, longest ${Math.max(0, ...pauses).toFixed(2)} ms`,
  );
  for (const [name, ms] of added)
    print(`p99 more, ${name}: ${ms.toFixed(2)} ms, ${ms < GOAL_MS ? 'under' : 'over'} the goal of ${GOAL_MS} ms`);
}

/** CPU time of this process for a call, µs: the client's. */
async function cpuMicros(call: Call, model: AgentModel): Promise<number> {
  const before = process.cpuUsage();
  await inFlight(WARM, 1, () => call(model));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / WARM;
}

/** What a call costs Redis, by its own count. */
async function redisCost(call: Call): Promise<string> {
  await redis.config('RESETSTAT');
  await inFlight(WARM, 1, () => call(gated));
  const stats = await redis.info('commandstats');
  const counted = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm)];
  const scripts = counted.filter(([, name = '']) => name.startsWith('eval'));
  const sum = (rows: typeof counted, column: 2 | 3): number => rows.reduce((total, row) => total + Number(row[column]), 0) / WARM;
  return `${sum(counted, 2).toFixed(1)} commands, ${sum(scripts, 2).toFixed(1)} of them scripts of ${sum(scripts, 3).toFixed(0)} µs together`;
}

try {
  await printHeading(server.url, 'Model calls through the gateway', [
    `${CALLS} pairs of calls to a provider on the loopback that answers at once, one straight by the AI SDK and one through the gateway, in turn.`,
    'The gateway asks a throttle, a circuit and two budgets before each call, and settles with them while its caller goes on. Milliseconds.',
  ]);
  collections.observe({ entryTypes: ['gc'] });
  print(`\n${''.padEnd(26)}      p50  gateway     more    ratio      p99  gateway     more    ratio`);
  for (const [name, call] of Object.entries(KINDS)) {
    await timePairs(call, WARM, 1);
    for (const atOnce of [1, 10]) {
      progress(`${name}, ${atOnce}`);
      printTimes(`${name}, ${atOnce} in parallel`, await timePairs(call, CALLS, atOnce));
    }
  }
  collections.disconnect();
  print();
  printVerdict();
  await printFloor();
  for (const [name, call] of Object.entries(KINDS)) {
    const [without, through] = [await cpuMicros(call, direct), await cpuMicros(call, gated)];
    print(
      `${name.padEnd(10)} CPU of Node ${without.toFixed(0)} µs, through the gateway ${through.toFixed(0)} µs; Redis: ${await redisCost(call)}`,
    );
  }
} finally {
  await parts.close();
  await provider.stop();
  await server.stop();
}
