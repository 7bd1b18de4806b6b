import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { settingsSchema, type SettingsInput } from '#shared/config/settings/settings.ts';
import { openFleet } from '../../support/fleet/open-fleet.ts';
import { startRedis } from '../../support/redis/start-redis.ts';
import { waitFor } from '../../support/wait-for.ts';
import { progress, readSize } from '../bench-options.ts';
import { print, printHeading } from '../print.ts';
import { median } from '../statistics.ts';
import type { PaidCall } from './agents/paid-steps.ts';

// A run of 40 steps whose worker is killed half-way: what is called again, and how long the run takes in all. Rounds, and ms of a step.
const ROUNDS = readSize(1, 3);
const STEP_MS = readSize(2, 100);
const STEPS = 40;
const SOON_MS = 300_000;

interface Figures {
  /** From the submission to the end. */
  ms: number;
  /** Calls that were paid. */
  calls: number;
}

interface System {
  name: string;
  /** Submits a run, kills the worker of which it is once half of its steps began, and waits for the run's end. */
  trial: (file: string) => Promise<Figures>;
  close: () => Promise<void>;
}

function callsIn(file: string): PaidCall[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as PaidCall);
}

/** Kills the process of the run in its middle, and measures until `end`. */
async function measure(file: string, kill: (pid: number) => void, end: () => Promise<unknown>): Promise<Figures> {
  const startedAt = performance.now();
  await waitFor(() => callsIn(file).length >= STEPS / 2, { deadlineMs: SOON_MS, everyMs: 5, what: 'half of the steps' });
  kill(callsIn(file).at(-1)?.pid ?? 0);
  await end();
  return { ms: performance.now() - startedAt, calls: callsIn(file).length };
}

const file = fileURLToPath(new URL('agents/paid-steps.ts', import.meta.url));
const settings: SettingsInput = { agents: { paid: { kind: 'function', file } }, worker: settingsSchema.parse({}).worker };

async function muster(): Promise<System> {
  const fleet = await openFleet({ settings });
  await fleet.start('api');
  const workers = new Map<number, { kill: () => Promise<void> }>();
  const start = async (): Promise<void> => {
    const worker = await fleet.start('worker');
    workers.set(worker.pid, worker);
  };
  await Promise.all([start(), start()]);
  return {
    name: 'Muster, with steps',
    trial: async (path) => {
      const id = await fleet.client.submit({ agent: 'paid', context: { file: path, steps: STEPS, ms: STEP_MS } });
      const figures = await measure(
        path,
        (pid) => void workers.get(pid)?.kill(),
        async () => await fleet.client.ended([id], SOON_MS),
      );
      await start();
      return figures;
    },
    close: async () => await fleet.stop(),
  };
}

async function rawBullmq(name: string, lockMs: number): Promise<System> {
  const redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec'] });
  const connection = new Redis(redis.url, { maxRetriesPerRequest: null });
  const queue = new Queue('steps', { connection });
  const listening = connection.duplicate();
  const events = new QueueEvents('steps', { connection: listening });
  const workers = new Map<number, ChildProcess>();
  const start = async (): Promise<void> => {
    const program = fileURLToPath(new URL('raw-worker.ts', import.meta.url));
    const child = spawn(process.execPath, [program, redis.url, `${lockMs}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    workers.set(child.pid ?? 0, child);
    await once(child.stdout, 'data');
  };
  await Promise.all([start(), start(), events.waitUntilReady()]);
  return {
    name,
    trial: async (path) => {
      const job = await queue.add('paid', { file: path, steps: STEPS, ms: STEP_MS });
      const figures = await measure(
        path,
        (pid) => void workers.get(pid)?.kill('SIGKILL'),
        async () => await job.waitUntilFinished(events, SOON_MS),
      );
      await start();
      return figures;
    },
    close: async () => {
      for (const child of workers.values()) child.kill('SIGKILL');
      await Promise.all([queue.close(), events.close()]);
      connection.disconnect();
      listening.disconnect();
      await redis.stop();
    },
  };
}

const directory = await mkdtemp(join(tmpdir(), 'muster-bench-'));
const { leaseMs } = settingsSchema.parse({}).worker;
const systems = [await muster(), await rawBullmq('raw BullMQ', 0), await rawBullmq(`raw BullMQ, locks of ${leaseMs / 1000} s`, leaseMs)];
try {
  const heading = await startRedis();
  await printHeading(heading.url, 'A run whose worker is killed', [
    `A run of ${STEPS} steps of ${STEP_MS} ms each; its worker is killed in step ${STEPS / 2}, and another one goes on. ${ROUNDS} rounds; medians.`,
    'Raw BullMQ does a stalled job again from its beginning. Called again: steps that began more than once.',
  ]);
  await heading.stop();
  const all = new Map<System, Figures[]>(systems.map((system) => [system, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    progress(`round ${round + 1} of ${ROUNDS}`);
    const trial = async (system: System, at: number): Promise<unknown> =>
      all.get(system)?.push(await system.trial(join(directory, `calls-${round}-${at}`)));
    await Promise.all(systems.map(trial));
  }
  print(`\n${''.padEnd(32)}called again   s in all   longer than without a kill   of raw BullMQ`);
  const least = (STEPS * STEP_MS) / 1000;
  const of = (system: System): number => median((all.get(system) ?? []).map(({ ms }) => ms / 1000));
  for (const system of systems) {
    const again = median((all.get(system) ?? []).map(({ calls }) => calls - STEPS));
    const seconds = of(system);
    const share = (seconds / of(systems[1] ?? system)).toFixed(2);
    print(
      `${system.name.padEnd(32)}${`${again}`.padStart(12)}${seconds.toFixed(1).padStart(11)}${(seconds - least).toFixed(1).padStart(29)}${share.padStart(16)}`,
    );
  }
} finally {
  await Promise.all(systems.map(async (system) => await system.close()));
  await rm(directory, { recursive: true, force: true });
}
