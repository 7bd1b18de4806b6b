import { fileURLToPath } from 'node:url';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { sendEvent } from '#shared/waits/index.ts';
import { openFleet } from '../support/fleet/open-fleet.ts';
import { openTestParts } from '../support/open-test-parts.ts';
import { waitFor } from '../support/wait-for.ts';
import { progress, readSize } from './bench-options.ts';
import { monotonicMs } from './fixtures/monotonic-ms.ts';
import { inFlight } from './in-flight.ts';
import { print, printHeading } from './print.ts';
import { percentile } from './statistics.ts';

// What suspended runs cost, and how fast an event resumes one of many: samples, and suspended runs besides.
const SAMPLES = readSize(1, 300);
const RUNS = readSize(2, 10_000);
const IN_FLIGHT = 50;
const SOON_MS = 600_000;
const TENANT = 'default';

const file = fileURLToPath(new URL('fixtures/wait-for-event.ts', import.meta.url));
const NO_LIMITS = { running: null, waiting: null, runningLow: null, runningByClass: {}, rates: {}, storedBytes: null };
const settings: SettingsInput = {
  agents: { waiting: { kind: 'function', file } },
  limits: { tenant: NO_LIMITS, suspended: RUNS + SAMPLES + 1 },
  worker: settingsSchema.parse({}).worker,
};
const fleet = await openFleet({ settings });
await fleet.start('api');
const worker = await fleet.start('worker', { MUSTER_QUEUES: 'tasks=4,maintenance=1' });
const parts = await openTestParts({ redisUrl: fleet.redis.url, settings });
const { ledger } = parts;
let count = 0;

const countSuspended = async (): Promise<number> =>
  await parts.redis.zlexcount(parts.keys.tenant(TENANT).live, '[suspended/', '(suspended/\u00ff');

/** Suspends so many runs more, each at an event of its own. */
async function suspend(runs: number): Promise<void> {
  const before = await countSuspended();
  await inFlight(runs, IN_FLIGHT, async () => {
    count += 1;
    await acceptTask(parts, { tenant: TENANT, agent: 'waiting', input: 'x', context: { name: 'bench', n: count } });
  });
  const isDone = async (): Promise<boolean> => (await countSuspended()) === before + runs;
  await waitFor(isDone, { deadlineMs: SOON_MS, everyMs: 100, what: `${runs} runs to be suspended` });
}

/** Resumes one run. Returns how long it takes until it is resumed in the ledger, and until its agent goes on, ms. */
async function resume(n: number): Promise<{ sent: number; running: number }> {
  const from = worker.lines.length;
  const at = monotonicMs();
  await sendEvent(ledger, TENANT, { id: `bench-${n}`, name: 'bench', data: { n }, deliver: 'one' });
  const sent = monotonicMs() - at;
  const line = await waitFor(() => worker.lines.slice(from).find(({ event, of }) => event === 'bench.resumed' && of === n), {
    deadlineMs: SOON_MS,
    everyMs: 2,
    what: `run ${n} to go on`,
  });
  return { sent, running: Number(line['atMs']) - at };
}

async function usedBytes(): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await parts.redis.info('memory'))?.[1]);
}

function row(name: string, values: readonly number[]): void {
  print(`${name.padEnd(58)}${[0.5, 0.99, 1].map((share) => percentile(values, share).toFixed(1).padStart(9)).join('')}`);
}

try {
  await printHeading(fleet.redis.url, 'Suspended runs', [
    `${RUNS} runs wait for an event each, and have no slot; a worker with 4 slots resumes ${SAMPLES} others one at a time; all on loopback.`,
  ]);
  await suspend(1);
  const [bytes, began] = [await usedBytes(), monotonicMs()];
  progress(`suspending ${RUNS} runs`);
  await suspend(RUNS);
  const seconds = (monotonicMs() - began) / 1000;
  print(
    `\n${(((await usedBytes()) - bytes) / RUNS / 1000).toFixed(1)} kB of Redis a suspended run; ${(RUNS / seconds).toFixed(0)} a second begin to wait`,
  );
  const all = [];
  for (let sample = 1; sample <= SAMPLES; sample += 1) all.push(await resume(count - sample));
  print(`\n${`ms, of ${SAMPLES}, among ${RUNS}`.padEnd(58)}      p50      p99      max`);
  row(
    'an event sent, to its run resumed in the ledger',
    all.map(({ sent }) => sent),
  );
  row(
    'an event sent, to its agent going on',
    all.map(({ running }) => running),
  );
} finally {
  await parts.close();
  await fleet.stop();
}
