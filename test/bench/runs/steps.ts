import { Redis } from 'ioredis';
import type { AgentContext } from '#shared/config/define-config.ts';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { wait } from '#shared/time/wait.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { startRedis } from '../../support/redis/start-redis.ts';
import { progress, readSize } from '../bench-options.ts';
import { print, printHeading } from '../print.ts';
import { median } from '../statistics.ts';

// What a step of a run costs: ms and calls of Redis, one run at a time, and many at once. Runs for each line, and steps of a run.
const RUNS = readSize(1, 20);
const STEPS = readSize(2, 400);
const AT_ONCE = 50;
const ROUNDS = 5;
const WORK_MS = 5;

/** What one run measured. */
interface Figures {
  ms: number;
  scripts: number;
  commands: number;
}

const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec'] });
const monitor = new Redis(server.url);
let work: () => unknown = () => undefined;
let measured: (figures: Figures) => void = () => undefined;
const parts = await openTestParts({
  redisUrl: server.url,
  settings: {
    agents: {
      stepping: { kind: 'function', run: async (_task, context) => measured(await run(context)) },
    },
    limits: { tenant: { running: null, waiting: null, runningLow: null, runningByClass: {}, rates: {}, storedBytes: null } },
  },
  env: { MUSTER_QUEUES: `tasks=${AT_ONCE}` },
});
const worker = createWorkerService(parts);

async function calls(): Promise<Pick<Figures, 'scripts' | 'commands'>> {
  const stats = await monitor.info('commandstats');
  const counts = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name, count]) => [name, Number(count)] as const);
  const sum = (some: typeof counts): number => some.reduce((total, [, count]) => total + count, 0);
  return { scripts: sum(counts.filter(([name]) => name === 'evalsha' || name === 'eval')), commands: sum(counts) };
}

async function run({ step }: AgentContext): Promise<Figures> {
  const before = await calls();
  const startedAt = performance.now();
  for (let number = 0; number < STEPS; number += 1) await step(`step ${number}`, work);
  const ms = performance.now() - startedAt;
  const after = await calls();
  return { ms, scripts: after.scripts - before.scripts, commands: after.commands - before.commands };
}

/** Submits so many runs, and returns what each measured. */
async function runs(count: number): Promise<Figures[]> {
  const all: Figures[] = [];
  const ended = Promise.withResolvers<undefined>();
  measured = (figures) => {
    all.push(figures);
    if (all.length === count) ended.resolve(undefined);
  };
  await Promise.all(
    Array.from({ length: count }, async () => await acceptTask(parts, { tenant: 'default', agent: 'stepping', input: 'x' })),
  );
  await ended.promise;
  return all;
}

/** How long a command waits for its answer on an idle Redis, ms. */
async function roundTrip(): Promise<number> {
  const all: number[] = [];
  for (let call = 0; call < 2000; call += 1) {
    const startedAt = performance.now();
    await monitor.ping();
    all.push(performance.now() - startedAt);
  }
  return median(all);
}

async function measure(name: string, what: typeof work): Promise<void> {
  progress(name);
  work = what;
  const beginnings = performance.now();
  for (let warm = 0; warm < 20; warm += 1) await what();
  const workMs = (performance.now() - beginnings) / 20;
  await runs(1);
  const all: Figures[] = [];
  for (let count = 0; count < RUNS; count += 1) all.push(...(await runs(1)));
  const of = (value: (figures: Figures) => number): number => median(all.map(value)) / STEPS;
  const ms = of((figures) => figures.ms);
  const cells = [ms.toFixed(2).padStart(8), (ms - workMs).toFixed(2).padStart(8)];
  const counts = [
    of((each) => each.scripts)
      .toFixed(2)
      .padStart(15),
    of((each) => each.commands)
      .toFixed(1)
      .padStart(11),
  ];
  print([name.padEnd(32), ...cells, ...counts].join(''));
}

try {
  await worker.start();
  await printHeading(server.url, 'Steps', [
    `Runs of ${STEPS} steps in one worker, ${RUNS} one after the other; medians. PING takes ${(await roundTrip()).toFixed(2)} ms.`,
  ]);
  print(`\n${'of a step'.padEnd(32)}${'ms'.padStart(8)}   added   script calls   commands, those inside scripts included`);
  await measure('that does nothing', () => undefined);
  await measure(`whose work takes ${WORK_MS} ms`, async () => await wait(WORK_MS));

  progress(`${AT_ONCE} at once`);
  work = () => undefined;
  await runs(AT_ONCE);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    await runs(AT_ONCE);
    rates.push((AT_ONCE * STEPS) / ((performance.now() - startedAt) / 1000));
  }
  print(`\n${median(rates).toFixed(0)} steps a second of ${AT_ONCE} runs at once, that do nothing`);
} finally {
  await worker.stop(10_000);
  await parts.close();
  monitor.disconnect();
  await server.stop();
}
