import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { Pool } from 'pg';
import { wait } from '#shared/time/wait.ts';
import { BENCH_QUEUE_SLOTS } from '../fleets/our-fleet.ts';

/** Jobs added by one statement. */
const AT_ONCE = 1000;
const POLL_MS = 100;
/** By then it is measured, whether or not all jobs are done: with many queues it is slow. */
const MAX_MS = 15_000;

/**
 * How many jobs a second graphile-worker runs, in the first 15 seconds at most, when each belongs to one of its named queues, which
 * run one job at a time each: its counterpart of lanes.
 */
export async function graphileQueuesPerSecond(connectionString: string, sessions: number, turns: number): Promise<number> {
  // Its own, so that all its connections are closed when this is over.
  const pgPool = new Pool({ connectionString, max: 20 });
  pgPool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  const silent = new Logger(() => () => undefined);
  const utils = await makeWorkerUtils({ pgPool, logger: silent });
  await utils.migrate();
  const jobs = Array.from({ length: sessions * turns }, (_, index) => ({
    identifier: 'nothing',
    payload: {},
    queueName: `session-${index % sessions}`,
  }));
  for (let from = 0; from < jobs.length; from += AT_ONCE) await utils.addJobs(jobs.slice(from, from + AT_ONCE));
  await utils.release();
  const rate = await runFor(pgPool, silent, jobs.length);
  await pgPool.end();
  return rate;
}

async function runFor(pgPool: Pool, logger: Logger, count: number): Promise<number> {
  const over = new AbortController();
  let done = 0;
  const nothing = (): void => {
    done += 1;
    if (done === count) over.abort();
  };
  const startedAt = performance.now();
  const runner = await run({
    pgPool,
    logger,
    concurrency: BENCH_QUEUE_SLOTS,
    pollInterval: POLL_MS,
    noHandleSignals: true,
    taskList: { nothing },
  });
  await wait(MAX_MS, over.signal);
  const rate = done / ((performance.now() - startedAt) / 1000);
  await runner.stop();
  return rate;
}
