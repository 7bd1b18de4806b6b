import { fileURLToPath } from 'node:url';
import { wait } from '#shared/time/index.ts';
import type { TaskView } from '../../support/fleet/fleet-client.ts';
import { spread } from '../../support/fleet/figures.ts';
import { type Fleet, openFleet } from '../../support/fleet/open-fleet.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { progress, readOptions } from '../bench-options.ts';
import { print, printHeading } from '../print.ts';

// A rolling deploy again and again while runs take longer than the time between two, and a group that is scaled by what the API says: nothing may
// be lost, and no attempt spent. `--full` is a deploy every minute, runs of ten minutes, and 2 to 12 to 2 workers.
const { isFull } = readOptions({ rounds: 1, tasks: 1 });
const SIZE = isFull
  ? { deployMs: 60_000, runMs: 600_000, stepMs: 20_000, plainMs: 15_000, runs: 60, minWorkers: 2, maxWorkers: 12 }
  : { deployMs: 20_000, runMs: 60_000, stepMs: 3000, plainMs: 3000, runs: 16, minWorkers: 2, maxWorkers: 4 };
const GRACE_MS = 25_000;
const SLOTS = 4;
/** As often as KEDA asks, and as soon as a scale-in follows, in the time of this bench. */
const POLL_MS = 1000;
const SCALE_IN_AFTER_MS = 10_000;
const END_MS = 6 * SIZE.runMs;

const file = (name: string): string => fileURLToPath(import.meta.resolve(`../../support/fleet/${name}`));

class Workers {
  readonly #fleet: Fleet;
  readonly running: ServiceProcess[] = [];
  /** Starts under way. */
  #starting = 0;
  peak = 0;
  stopped = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  get count(): number {
    return this.running.length + this.#starting;
  }

  async start(): Promise<void> {
    this.#starting += 1;
    this.peak = Math.max(this.peak, this.count);
    this.running.push(await this.#fleet.start('worker').finally(() => (this.#starting -= 1)));
  }

  /** As Kubernetes ends a pod: it drains meanwhile. */
  async stop(): Promise<void> {
    const oldest = this.running.shift();
    if (!oldest) return;
    this.stopped += 1;
    await oldest.kill('SIGTERM');
  }
}

async function desiredOf(fleet: Fleet): Promise<number> {
  const { body } = await fleet.client.call('GET', '/v1/scaling/default');
  return Math.min(SIZE.maxWorkers, Math.max(SIZE.minWorkers, Number(body['desired'] ?? 0)));
}

/** Scales out at once, and in once less was enough for a while. */
async function scale(fleet: Fleet, workers: Workers, signal: AbortSignal): Promise<void> {
  let lessSince = performance.now();
  while (await wait(POLL_MS, signal)) {
    const desired = await desiredOf(fleet);
    if (desired >= workers.count) lessSince = performance.now();
    for (let more = workers.count; more < desired; more += 1) void workers.start();
    if (performance.now() - lessSince > SCALE_IN_AFTER_MS && workers.count > desired) await workers.stop();
  }
}

/** Replaces all workers, one after another, a new one first. */
async function deploy(workers: Workers): Promise<void> {
  for (let left = workers.running.length; left > 0; left -= 1) {
    await workers.start();
    await workers.stop();
  }
}

async function deployAgain(workers: Workers, signal: AbortSignal): Promise<number> {
  let deploys = 0;
  while (!signal.aborted && (await wait(SIZE.deployMs, signal))) {
    await deploy(workers);
    deploys += 1;
    progress(`deploy ${deploys}: ${workers.count} workers`);
  }
  return deploys;
}

async function report(fleet: Fleet, tasks: readonly TaskView[]): Promise<void> {
  const ofTasks = await Promise.all(tasks.map(({ id }) => fleet.client.attempts(id)));
  const attempts = ofTasks.flat();
  const startOf = (at: number): number => Math.min(...(ofTasks[at] ?? []).map(({ startedAt }) => Date.parse(startedAt)));
  const firstStarts = tasks.map(({ createdAt }, at) => startOf(at) - Date.parse(createdAt));
  const lost = tasks.filter(({ status }) => status !== 'completed');
  const spent = tasks.filter(({ attempt }) => attempt !== 1);
  print(`\nruns ${tasks.length}, completed ${tasks.length - lost.length}, attempts spent beside the first ${spent.length}`);
  print(`interrupted attempts ${attempts.filter(({ status }) => status === 'interrupted').length}`);
  print(`wake-up, from acceptance to the first start: ${spread(firstStarts)}`);
  if (lost.length + spent.length > 0)
    throw new Error(`Lost or charged: ${[...lost, ...spent].map(({ id, status }) => `${id} ${status}`).join(', ')}`);
}

const stepping = { kind: 'function', file: file('runs/stepping-agent.ts'), timeoutMs: 2 * SIZE.runMs } as const;
const waiting = { kind: 'function', file: file('waiting-agent.ts'), timeoutMs: 2 * SIZE.runMs } as const;
const fleet = await openFleet({
  settings: { agents: { stepping, waiting }, worker: { slots: SLOTS, leaseMs: 10_000, orphanCheckIntervalMs: 1000 } },
  env: { SHUTDOWN_GRACE_MS: String(GRACE_MS) },
});
const ending = new AbortController();
try {
  await printHeading(fleet.redis.url, 'Deploys while runs take longer', [
    `A deploy every ${SIZE.deployMs / 1000} s, runs of ${SIZE.runMs / 1000} s in steps of ${SIZE.stepMs / 1000} s and of ${SIZE.plainMs / 1000} s without,`,
    `${SIZE.minWorkers} to ${SIZE.maxWorkers} workers of ${SLOTS} slots, a grace of ${GRACE_MS / 1000} s.`,
  ]);
  await fleet.start('api');
  const workers = new Workers(fleet);
  for (let count = 0; count < SIZE.minWorkers; count += 1) await workers.start();
  const scaling = scale(fleet, workers, ending.signal);
  const deploying = deployAgain(workers, ending.signal);
  const long = { agent: 'stepping', context: { steps: SIZE.runMs / SIZE.stepMs, stepMs: SIZE.stepMs } };
  const short = { agent: 'waiting', context: { workMs: SIZE.plainMs } };
  const ids = await Promise.all(Array.from({ length: SIZE.runs }, (_, at) => fleet.client.submit(at % 3 === 0 ? short : long)));
  const tasks = await fleet.client.ended(ids, END_MS);
  // Until the group is small again.
  for (let tries = 0; workers.count > SIZE.minWorkers && tries < 120; tries += 1) await wait(1000);
  ending.abort();
  const deploys = await deploying;
  await scaling;
  print(`\n${deploys} deploys, ${workers.stopped} workers ended by SIGTERM`);
  const needed = Math.min(SIZE.maxWorkers, Math.ceil(SIZE.runs / SLOTS));
  print(
    `workers at most ${workers.peak}; ${needed} were needed for all runs at once, and a deploy has one more for a while; ${workers.count} at the end`,
  );
  await report(fleet, tasks);
} finally {
  ending.abort();
  await fleet.stop();
}
