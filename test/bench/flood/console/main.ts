import { Redis } from 'ioredis';
import { createKeys } from '#shared/redis/keys.ts';
import { startRedis } from '../../../support/redis/start-redis.ts';
import { progress, readOptions } from '../../bench-options.ts';
import { print, printHeading } from '../../print.ts';
import { measureCalls } from './calls.ts';
import { fillTasks, TENANT } from './fill-tasks.ts';
import { startFeed } from './feed.ts';
import { measureFrames } from './frames.ts';
import { type BenchFleet, startFleet } from './start-fleet.ts';

// What the console's pages take of a tenant with many tasks: their calls, and the frames of a browser while events arrive.
const { tasks: ENDED, rounds: ROUNDS, part: PART, minutes: MINUTES = 10 } = readOptions({ tasks: 1_000_000, rounds: 30 });
const WAITING = 10_000;
const BULK = 500;
const EVENTS_PER_SECOND = 200;
const SLOW_MICROS = 500;
const DAY_MS = 86_400_000;

const server = await startRedis({ args: ['--slowlog-log-slower-than', `${SLOW_MICROS}`] });
const redis = new Redis(server.url);
const keys = createKeys(1);

/** Half of them wait for tomorrow, the others for a machine that is not there. */
async function addWaiting(fleet: BenchFleet): Promise<void> {
  const scheduledFor = new Date(Date.now() + DAY_MS).toISOString();
  for (let from = 0; from < WAITING; from += BULK) {
    const items = Array.from({ length: BULK }, (_, n) =>
      n % 2 === 0 ? { agent: 'echo', input: `Tomorrow ${from + n}`, scheduledFor } : { agent: 'coder', input: `Waiting ${from + n}` },
    );
    await fleet.call('POST', '/v1/tasks/bulk', { items });
  }
}

async function printMemory(seconds: number): Promise<void> {
  const { bodies, states, outputs, index } = keys.tenant(TENANT);
  const measured = { bodies, states, outputs, 'index of lookups': index };
  const bytes = await Promise.all(
    Object.entries(measured).map(async ([name, key]) => {
      const size = await redis.memory('USAGE', key, 'SAMPLES', 1000);
      return `${name} ${(Number(size) / ENDED).toFixed(0)}`;
    }),
  );
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1] ?? 0);
  const lookups = ((await redis.zcard(index)) / ENDED).toFixed(1);
  print(
    `Filled in ${seconds.toFixed(0)} s. Redis's memory for an ended task: ${(used / ENDED).toFixed(0)} bytes in all; ${bytes.join(', ')}.`,
  );
  print(`The index has ${lookups} lookups for each.`);
}

let fleet: BenchFleet | undefined;
try {
  const about = ['One tenant, every service in one process. Calls go through HTTP, one at a time.'];
  await printHeading(server.url, `The console with ${ENDED} ended and ${WAITING} waiting tasks`, about, 'without persistence');
  const seconds = await fillTasks({ redis, keys }, ENDED);
  await printMemory(seconds);
  fleet = await startFleet(server.url);
  await addWaiting(fleet);
  if (PART !== 'frames') await measureCalls({ fleet, redis, rounds: ROUNDS });
  if (PART !== 'calls') {
    const feed = await startFeed(fleet, EVENTS_PER_SECOND);
    feed.rate();
    await measureFrames({ url: fleet.url, minutes: MINUTES, others: [fleet.pid, server.pid, process.pid] });
    print(`\n${feed.rate().toFixed(0)} events a second arrived meanwhile.`);
    await feed.stop();
  }
} finally {
  await fleet?.stop();
  redis.disconnect();
  await server.stop();
  progress('done');
}
