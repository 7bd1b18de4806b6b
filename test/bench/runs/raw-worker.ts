import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { pay } from './agents/paid-steps.ts';

/** A worker of raw BullMQ as a process: it does the steps of a job one after the other, from the first one. Arguments: Redis, and ms of a lock, 0 for the default. */
const [url = '', lockMs = '0'] = process.argv.slice(2);
const locks = lockMs === '0' ? {} : { lockDuration: Number(lockMs), stalledInterval: Number(lockMs) };

interface Steps {
  file: string;
  steps: number;
  ms: number;
}

const worker = new Worker<Steps>(
  'steps',
  async ({ data: { file, steps, ms } }) => {
    for (let step = 1; step <= steps; step += 1) await pay(file, step, ms);
  },
  { connection: new Redis(url, { maxRetriesPerRequest: null }), maxStalledCount: 10, ...locks },
);
await worker.waitUntilReady();
process.stdout.write('ready\n');
