import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';
import { reportFigure } from './figures.ts';
import { openFleet, type Fleet } from './open-fleet.ts';
import type { ServiceProcess } from './service-process.ts';
import { waitFor } from '../wait-for.ts';

export interface Poison {
  /** What the task does to its process, as `poison-agent.ts` has it. */
  poison: string;
  /** Workers that it may end. */
  maxEnded: number;
  /** What its error says. */
  says: RegExp;
}

const AGENT = fileURLToPath(new URL('../../scenarios/fixtures/poison-agent.ts', import.meta.url));
const WORKERS = 3;
const NEIGHBOURS = 12;

let fleet: Fleet;

/** A fleet without workers, for all trials of a file. It runs the package: its isolated processes and the watchdog start from files of their own. */
export function usePoisonFleet(): void {
  // Packing takes a while.
  beforeAll(async () => {
    // The lease leaves a busy machine the time to write down which task blocked its process.
    const worker = { blockedMs: 600, leaseMs: 5000, probationMs: 2000 };
    fleet = await openFleet({ isPacked: true, settings: { worker, agents: { poison: { kind: 'function', file: AGENT } } } });
    await fleet.start('api');
  });
  afterAll(async () => {
    await fleet.stop();
  });
}

/** What became of a poisonous task and its neighbours. */
export interface PoisonOutcome {
  guilty: { status: string; code: string | undefined; says: string | undefined };
  /** Its runs, as its agent counted them. */
  runs: number;
  /** Ends of the neighbours: status and attempt, each once. */
  neighbours: string[];
  /** Their attempts that cost them something. */
  costly: string[];
  /** Workers that ended by themselves. */
  ended: number;
}

/** The outcome that is promised: it fails by itself after a bounded number of losses, and costs its neighbours no attempt. */
export function contained({ maxEnded, says }: Poison): PoisonOutcome {
  return {
    guilty: { status: 'permanently_failed', code: 'WORKER_LOST', says: expect.stringMatching(says) as string },
    runs: expect.toSatisfy((runs: number) => runs <= 4) as number,
    neighbours: ['completed 1'],
    costly: [],
    ended: expect.toSatisfy((ended: number) => ended <= maxEnded) as number,
  };
}

/** Runs a poisonous task beside neighbours on three workers. */
export async function tryPoison({ poison }: Poison): Promise<PoisonOutcome> {
  const env = { MUSTER_QUEUES: 'tasks=5', NODE_OPTIONS: '--max-old-space-size=200' };
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => fleet.start('worker', env)));
  try {
    const submit = (): Promise<string> => fleet.client.submit({ context: { workMs: [4000] }, execution: { maxAttempts: 1 } });
    const neighbours = await Promise.all(Array.from({ length: NEIGHBOURS }, submit));
    await waitFor(() => neighbours.every((id) => startsOf(id) > 0), { deadlineMs: 20_000, what: 'all neighbours to run' });
    const from = performance.now();
    const guilty = await fleet.client.submit({ agent: 'poison', context: { poison }, execution: { maxAttempts: 100 } });
    const [task] = await fleet.client.ended([guilty], 90_000);
    const failedMs = performance.now() - from;
    const tasks = await fleet.client.ended(neighbours, 60_000);
    const ended = await countEnded(workers);
    reportFigure(
      `a task that does ${poison}, ${WORKERS} workers, ${NEIGHBOURS} neighbours`,
      `${ended} workers ended, failed after ${seconds(failedMs)}, neighbours done after ${seconds(performance.now() - from)}`,
    );
    const attempts = (await Promise.all(neighbours.map((id) => fleet.client.attempts(id)))).flat();
    return {
      guilty: { status: task?.status ?? '', code: task?.error?.code, says: task?.error?.message },
      runs: startsOf(guilty),
      neighbours: [...new Set(tasks.map(({ status, attempt }) => `${status} ${attempt}`))],
      costly: attempts.map(({ status }) => status).filter((status) => status !== 'success' && status !== 'interrupted'),
      ended,
    };
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
  }
}

function startsOf(id: string): number {
  return fleet.journal().filter(({ event, task }) => event === 'start' && task === id).length;
}

/** Those that have ended by themselves. */
async function countEnded(workers: readonly ServiceProcess[]): Promise<number> {
  const ends = await Promise.all(workers.map(({ exited }) => Promise.race([exited, Promise.resolve(null)])));
  return ends.filter((end) => end !== null).length;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
