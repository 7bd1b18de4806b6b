import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { wait } from '#shared/time/index.ts';
import { type Fleet, openFleet } from '../support/fleet/open-fleet.ts';
import type { ServiceName } from '../support/fleet/service-process.ts';
import { endWithParent } from '../support/runner/end-with-parent.ts';
import { childEnvironment } from '../support/test-environment.ts';
import { progress, readOptions } from './bench-options.ts';
import { cpuSecondsOfRedis } from './fixtures/cpu-seconds.ts';
import { print, printHeading } from './print.ts';

// What a fleet costs in which nothing happens: connections, commands and Redis's CPU by how many workers there are; memory and start of each service.
const { isFull } = readOptions({ rounds: 1, tasks: 1 });
/** Idle workers, beside one of each service. Above one they share processes of ten. */
const WORKERS = isFull ? [1, 20, 200] : [1, 20];
const PER_PROCESS = 10;
const SERVICES: readonly ServiceName[] = ['api', 'chat', 'webhooks', 'scheduler', 'worker'];
/** What a start leaves to do is done by then, and what comes seldom comes in the measured time. */
const SETTLE_MS = 12_000;
const MEASURED_MS = 30_000;
const EXTRAPOLATED = 1000;

/** The intervals of a fleet as it is installed; scenarios have shorter ones. */
const SETTINGS = {
  worker: {
    leaseMs: 10_000,
    orphanCheckIntervalMs: 1000,
    outboxSweepMs: 3000,
    ticketAuditMs: 30_000,
    cancelGraceMs: 5000,
    // Two hundred processes that are kept ready for suspects take more memory than a machine has, where the workers themselves share twenty.
    ...(isFull ? { isolatedIdleMs: 0 } : {}),
  },
};

interface Cost {
  workers: number;
  connections: number;
  /** A second, those that scripts call included. */
  commands: number;
  /** Of one core. */
  cpuPercent: number;
  /** A second, the most frequent first. */
  byCommand: [name: string, perSecond: number][];
}

function countCommands(stats: string): Map<string, number> {
  const found = stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
  return new Map([...found].map(([, name = '', calls]) => [name, Number(calls)]));
}

/** What the bench itself sends. */
const OWN = new Set(['info', 'config|resetstat']);

async function measure(redis: Redis, workers: number): Promise<Cost> {
  await wait(SETTLE_MS);
  await redis.config('RESETSTAT');
  const cpuFrom = await cpuSecondsOfRedis(redis);
  const from = performance.now();
  await wait(MEASURED_MS);
  const seconds = (performance.now() - from) / 1000;
  const cpu = (await cpuSecondsOfRedis(redis)) - cpuFrom;
  const counted = [...countCommands(await redis.info('commandstats'))].filter(([name]) => !OWN.has(name));
  const clients = Number(/^connected_clients:(\d+)/m.exec(await redis.info('clients'))?.[1]);
  return {
    workers,
    connections: clients - 1,
    commands: counted.reduce((sum, [, calls]) => sum + calls, 0) / seconds,
    cpuPercent: (100 * cpu) / seconds,
    byCommand: counted.map(([name, calls]): [string, number] => [name, calls / seconds]).toSorted(([, one], [, other]) => other - one),
  };
}

function megabytesOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Starts one of each service. Returns a line for each: what it takes to start, and of memory. */
async function startServices(fleet: Fleet): Promise<string[]> {
  const started: { name: string; ms: number; pid: number }[] = [];
  for (const name of SERVICES) {
    const from = performance.now();
    const { pid } = await fleet.start(name);
    started.push({ name, ms: performance.now() - from, pid });
    progress(`${name} started`);
  }
  return started.map(
    ({ name, ms, pid }) => `${name.padEnd(12)}${(ms / 1000).toFixed(1).padStart(8)} s ${megabytesOf(pid).toFixed(0).padStart(8)} MB`,
  );
}

/** Starts a process with ten more workers, which the caller ends. */
async function startTen(fleet: Fleet): Promise<ChildProcess> {
  const main = fileURLToPath(import.meta.resolve('./fixtures/ten-workers.ts'));
  const env = { REDIS_URL: fleet.redis.url, PORT: '0', MUSTER_CONFIG: join(fleet.directory, 'muster.config.mjs') };
  const child = spawn(process.execPath, [main], { cwd: fleet.directory, env: childEnvironment(env), stdio: ['ignore', 'pipe', 'inherit'] });
  endWithParent(child);
  await once(createInterface({ input: child.stdout }), 'line');
  return child;
}

function printCosts(costs: readonly Cost[]): void {
  print('\nidle workers   connections   commands/s   CPU of Redis');
  for (const { workers, connections, commands, cpuPercent } of costs)
    print(
      `${String(workers).padStart(12)}${String(connections).padStart(14)}${commands.toFixed(0).padStart(13)}${cpuPercent.toFixed(1).padStart(13)} %`,
    );
  const [first, last] = [costs[0], costs.at(-1)];
  if (!first || !last || first === last) return;
  const more = last.workers - first.workers;
  const per = (read: (cost: Cost) => number): number => (read(last) - read(first)) / more;
  const at = (read: (cost: Cost) => number): string => (read(last) + per(read) * (EXTRAPOLATED - last.workers)).toFixed(0);
  const perWorker = `${per(({ connections }) => connections).toFixed(1)} connections, ${per(({ commands }) => commands).toFixed(1)} commands/s`;
  print(`A further worker: ${perWorker}, ${per(({ cpuPercent }) => cpuPercent).toFixed(3)} % of a core.`);
  print(
    `${EXTRAPOLATED} workers, extrapolated: ${at(({ connections }) => connections)} connections, ${at(({ commands }) => commands)} commands/s, ${at(({ cpuPercent }) => cpuPercent)} % of a core.`,
  );
}

const fleet = await openFleet({ settings: SETTINGS });
const redis = new Redis(fleet.redis.url);
const further: ChildProcess[] = [];
try {
  await printHeading(fleet.redis.url, 'A fleet in which nothing happens', [
    `One process of each of ${SERVICES.join(', ')}, and further workers in processes of ${PER_PROCESS}.`,
  ]);
  const services = await startServices(fleet);
  const costs: Cost[] = [];
  let workers = 1;
  for (const count of WORKERS) {
    for (; workers + PER_PROCESS <= count + 1; workers += PER_PROCESS) {
      further.push(await startTen(fleet));
      progress(`${workers + PER_PROCESS - 1} further workers`);
    }
    costs.push(await measure(redis, workers));
    progress(`${workers} workers measured`);
  }
  print('\nservice        start    memory');
  for (const line of services) print(line);
  printCosts(costs);
  print(
    `\nMost frequent with 1 worker, a second: ${costs[0]?.byCommand
      .slice(0, 12)
      .map(([name, count]) => `${name} ${count.toFixed(1)}`)
      .join(', ')}`,
  );
} finally {
  redis.disconnect();
  for (const child of further) child.kill('SIGKILL');
  await fleet.stop();
}
