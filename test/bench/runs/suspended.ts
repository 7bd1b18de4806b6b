import { fileURLToPath } from 'node:url';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { sendEvent } from '#shared/waits/index.ts';
import { openFleet } from '../../support/fleet/open-fleet.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { waitFor } from '../../support/wait-for.ts';
import { progress, readSize } from '../bench-options.ts';
import { cpuSecondsOfRedis } from '../fixtures/cpu-seconds.ts';
import { monotonicMs } from '../fixtures/monotonic-ms.ts';
import { inFlight } from '../in-flight.ts';
import { print, printHeading } from '../print.ts';
import { percentile } from '../statistics.ts';

// What suspended runs cost, and how fast they go on: samples, suspended runs besides, and runs that one event resumes.
const SAMPLES = readSize(1, 300);
const RUNS = readSize(2, 10_000);
const TOGETHER = readSize(3, 10_000);
const IN_FLIGHT = 50;
const SLEEPERS = 50;
const APART_MS = 100;
/** Longer than a run sleeps in its slot. */
const SLEEP_MS = 8000;
const SOON_MS = 3_600_000;
const SLOW_US = 5000;
const LONG_US = 100_000;
const MAX_SLOW = 10_000;
const TENANT = 'default';

const file = fileURLToPath(new URL('agents/wait-for-event.ts', import.meta.url));
const NO_LIMITS = { running: null, waiting: null, runningLow: null, runningByClass: {}, rates: {}, storedBytes: null };
const settings: SettingsInput = {
  agents: { waiting: { kind: 'function', file } },
  limits: { tenant: NO_LIMITS, suspended: RUNS + SAMPLES + TOGETHER + SLEEPERS + 1 },
  worker: settingsSchema.parse({}).worker,
};
const fleet = await openFleet({ settings });
await fleet.start('api');
const worker = await fleet.start('worker', { MUSTER_QUEUES: 'tasks=4,maintenance=1' });
const parts = await openTestParts({ redisUrl: fleet.redis.url, settings });
const { ledger } = parts;
const { live, index } = parts.keys.tenant(TENANT);
let count = 0;

const countIn = async (set: string, what: string): Promise<number> => await parts.redis.zlexcount(set, `[${what}/`, `(${what}/\u00ff`);

async function submit(context: object): Promise<void> {
  await acceptTask(parts, { tenant: TENANT, agent: 'waiting', input: 'x', context: { name: 'bench', ...context } });
}

/** Suspends so many runs more. Returns what that cost. */
async function suspend(runs: number, contextOf: () => object): Promise<string> {
  const [before, bytes, beganAt] = [await countIn(live, 'suspended'), await usedBytes(), monotonicMs()];
  await inFlight(runs, IN_FLIGHT, async () => await submit(contextOf()));
  const isDone = async (): Promise<boolean> => (await countIn(live, 'suspended')) === before + runs;
  await waitFor(isDone, { deadlineMs: SOON_MS, everyMs: 100, what: `${runs} runs to be suspended` });
  const seconds = (monotonicMs() - beganAt) / 1000;
  const each = ((await usedBytes()) - bytes) / runs / 1000;
  return `\n${runs} runs: ${each.toFixed(1)} kB of Redis a suspended run; ${(runs / seconds).toFixed(0)} a second begin to wait`;
}

const own = (): object => {
  count += 1;
  return { n: count };
};

/** What the agent of a run logged when it went on. Looks only at lines from `from` on. */
async function resumed(n: number, from: number, everyMs = 2): Promise<Record<string, unknown>> {
  return await waitFor(() => worker.lines.slice(from).find(({ event, of }) => event === 'bench.resumed' && of === n), {
    deadlineMs: SOON_MS,
    everyMs,
    what: `run ${n} to go on`,
  });
}

/** Resumes one run. Returns how long it takes until it is resumed in the ledger, and until its agent goes on, ms. */
async function resume(n: number): Promise<{ sent: number; running: number }> {
  const from = worker.lines.length;
  const at = monotonicMs();
  await sendEvent(ledger, TENANT, { id: `bench-${n}`, name: 'bench', data: { n }, deliver: 'one' });
  const sent = monotonicMs() - at;
  return { sent, running: Number((await resumed(n, from))['atMs']) - at };
}

/** How much too late runs that sleep go on, ms. */
async function oversleep(): Promise<number[]> {
  const [first, from] = [count + 1, worker.lines.length];
  await inFlight(SLEEPERS, 1, async (place) => await submit({ ...own(), until: Date.now() + SLEEP_MS + place * APART_MS }));
  const all: number[] = [];
  for (let n = first; n <= count; n += 1) all.push(Number((await resumed(n, from, 50))['lateMs']));
  return all;
}

/** Prints the CPU of Redis that a phase took for each run, and its longest call: others' work on the machine is in that, and not in the CPU. */
async function ofRedis(runs: number, phase: () => Promise<string>): Promise<void> {
  await parts.redis.config('SET', 'slowlog-log-slower-than', SLOW_US, 'slowlog-max-len', MAX_SLOW);
  await parts.redis.slowlog('RESET');
  const before = await cpuSecondsOfRedis(parts.redis);
  print(await phase());
  const micros = (1e6 * ((await cpuSecondsOfRedis(parts.redis)) - before)) / runs;
  const slow = ((await parts.redis.slowlog('GET', MAX_SLOW)) as [number, number, number][]).map(([, , took]) => took);
  const longest = Math.max(0, ...slow) / 1000;
  const [over, far] = [SLOW_US, LONG_US].map((least) => `${slow.filter((took) => took >= least).length} of ${least / 1000} ms and more`);
  print(`  Redis: ${micros.toFixed(0)} µs of CPU for each; its longest call took ${longest.toFixed(0)} ms, ${over}, ${far}`);
}

/** Resumes all runs that wait for it by one event, until all have ended. */
async function resumeTogether(): Promise<void> {
  const completed = await countIn(index, 'status=completed');
  const at = monotonicMs();
  await ofRedis(TOGETHER, async () => {
    const { resumed: runs } = await sendEvent(ledger, TENANT, { id: 'together', name: 'together', data: {}, deliver: 'all' });
    const seconds = (monotonicMs() - at) / 1000;
    return `\none event resumes ${runs} runs in ${seconds.toFixed(1)} s: ${(runs / seconds).toFixed(0)} a second in the ledger`;
  });
  await ofRedis(TOGETHER, async () => {
    const isDone = async (): Promise<boolean> => (await countIn(index, 'status=completed')) === completed + TOGETHER;
    await waitFor(isDone, { deadlineMs: SOON_MS, everyMs: 100, what: 'all of them to end' });
    const seconds = (monotonicMs() - at) / 1000;
    return `all ended in 4 slots ${seconds.toFixed(1)} s after it was sent: ${(TOGETHER / seconds).toFixed(0)} a second`;
  });
}

async function usedBytes(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await parts.redis.info('memory'))?.[1]);
}

async function workerMb(): Promise<number> {
  const { workers } = (await fleet.client.call('GET', '/v1/fleet')).body as { workers: { memoryMb: number }[] };
  return workers[0]?.memoryMb ?? Number.NaN;
}

function row(name: string, values: readonly number[]): void {
  print(`${name.padEnd(58)}${[0.5, 0.99, 1].map((share) => percentile(values, share).toFixed(1).padStart(9)).join('')}`);
}

try {
  await printHeading(fleet.redis.url, 'Suspended runs', [
    `${RUNS} runs wait for an event each, and have no slot; a worker with 4 slots resumes ${SAMPLES} others one at a time; all on loopback.`,
  ]);
  await suspend(1, own);
  progress(`suspending ${RUNS} runs`);
  await ofRedis(RUNS, async () => await suspend(RUNS, own));
  const all = [];
  for (let sample = 1; sample <= Math.min(SAMPLES, RUNS); sample += 1) all.push(await resume(count - sample));
  progress(`${SLEEPERS} runs sleep`);
  const late = await oversleep();
  print(`\n${`ms, of ${all.length}, among ${RUNS}`.padEnd(58)}      p50      p99      max`);
  row(
    'an event sent, to its run resumed in the ledger',
    all.map(({ sent }) => sent),
  );
  row(
    'an event sent, to its agent going on',
    all.map(({ running }) => running),
  );
  row(`the time of a sleep, to its agent going on (${SLEEPERS})`, late);
  progress(`suspending ${TOGETHER} runs that wait for one event`);
  const before = await workerMb();
  await ofRedis(TOGETHER, async () => await suspend(TOGETHER, () => ({ name: 'together' })));
  print(`  the worker's process has ${await workerMb()} MB, and had ${before} MB before them`);
  progress('resuming them');
  await resumeTogether();
} finally {
  await parts.close();
  await fleet.stop();
}
