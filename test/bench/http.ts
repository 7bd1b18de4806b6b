import { Redis } from 'ioredis';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createKeys } from '#shared/redis/keys.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { cpuSecondsOfRedis, cpuSecondsOfService } from './fixtures/cpu-seconds.ts';
import { waitFor } from '../support/wait-for.ts';
import { HttpService } from './fleets/http-service.ts';
import { inFlight, perSecond } from './in-flight.ts';
import { print, printHeading } from './print.ts';
import { median } from './statistics.ts';
import { readSize } from './bench-options.ts';

// Accepting through HTTP: the API, and what a team writes by hand with Express, zod and BullMQ. Each is a process of its own.
const ROUNDS = 7;
const REQUESTS = readSize(1, 4000);
const CONNECTIONS = 50;
const ITEMS = 100;
const BULKS = Math.ceil(REQUESTS / ITEMS);
const BULKS_AT_ONCE = 5;
const KEY = 'the-admin-key-of-a-bench';

const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'] });
const directory = await mkdtemp(join(tmpdir(), 'muster-bench-'));
const config = join(directory, 'muster.config.mjs');
await writeFile(config, `export default { agents: { echo: { kind: 'echo' } }, limits: { httpPerMinute: 100_000_000 } };\n`);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ours = await HttpService.start({
  file: at('../../services/api/main.ts'),
  env: { REDIS_URL: server.url, PORT: '0', MUSTER_ADMIN_KEY: KEY, MUSTER_CONFIG: config },
  key: KEY,
  connections: CONNECTIONS,
});
const theirs = await HttpService.start({
  file: at('fixtures/express-service.ts'),
  args: [server.url, KEY],
  key: KEY,
  connections: CONNECTIONS,
});
const monitor = new Redis(server.url);
const { outbox } = createKeys(1).shard(0);

interface Work {
  tasks: number;
  run: (service: HttpService) => Promise<void>;
}

const WORKS = {
  one: { tasks: REQUESTS, run: (service) => inFlight(REQUESTS, CONNECTIONS, () => service.accept()) },
  bulk: { tasks: BULKS * ITEMS, run: (service) => inFlight(BULKS, BULKS_AT_ONCE, () => service.acceptMany(ITEMS)) },
} as const satisfies Record<string, Work>;

/** Of one task. */
interface Cost {
  perSecond: number;
  nodeMicros: number;
  redisMicros: number;
}

const isOutboxEmpty = async (): Promise<boolean> => (await monitor.zcard(outbox)) === 0;

/** Answers come before the last tickets are in BullMQ; they are a part of the work. */
async function ticketsAdded(): Promise<void> {
  await waitFor(isOutboxEmpty, { deadlineMs: 60_000, everyMs: 2, what: 'the tickets in BullMQ' });
}

async function costOf(service: HttpService, { tasks, run }: Work): Promise<Cost> {
  const before = [await cpuSecondsOfService(service.url), await cpuSecondsOfRedis(monitor)] as const;
  const rate = await perSecond(tasks, async () => {
    await run(service);
    await ticketsAdded();
  });
  const after = [await cpuSecondsOfService(service.url), await cpuSecondsOfRedis(monitor)] as const;
  return { perSecond: rate, nodeMicros: ((after[0] - before[0]) * 1e6) / tasks, redisMicros: ((after[1] - before[1]) * 1e6) / tasks };
}

function printRow(name: string, rounds: readonly { their: Cost; our: Cost }[], of: keyof Cost): void {
  const [our, their] = [median(rounds.map((each) => each.our[of])), median(rounds.map((each) => each.their[of]))];
  const ratio = median(rounds.map((each) => each.our[of] / each.their[of]));
  print(`${name.padEnd(34)}${our.toFixed(0).padStart(8)}${their.toFixed(0).padStart(13)}${ratio.toFixed(2).padStart(8)}`);
}

/** Commands that one task costs, by name. */
async function commandsOf(service: HttpService, { tasks, run }: Work): Promise<string> {
  await monitor.config('RESETSTAT');
  await run(service);
  await ticketsAdded();
  const stats = await monitor.info('commandstats');
  const counts = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
    ([, name = '', calls]) => [name, Number(calls) / tasks] as const,
  );
  const total = counts.reduce((sum, [, calls]) => sum + calls, 0);
  const named = counts.filter(([, calls]) => calls >= 0.05).toSorted(([, one], [, other]) => other - one);
  return `${total.toFixed(1).padStart(5)}   ${named.map(([name, calls]) => `${name} ${calls.toFixed(2)}`).join(', ')}`;
}

try {
  await printHeading(server.url, 'Accepting through HTTP', [
    `${REQUESTS} requests over ${CONNECTIONS} connections, and ${BULKS} of ${ITEMS} tasks each over ${BULKS_AT_ONCE}; ${ROUNDS} interleaved rounds, medians.`,
    'By hand: an Express service with a key, a zod schema and BullMQ. Ratio: Muster of it, 1.00 is as fast.',
    'No worker runs: Muster makes tickets for the first few tasks only, and a later claim those of the others.',
  ]);
  for (const [name, work] of Object.entries(WORKS)) {
    // Warm: code compiled, scripts loaded.
    for (const service of [theirs, ours]) await costOf(service, work);
    const rounds: { their: Cost; our: Cost }[] = [];
    for (let index = 0; index < ROUNDS; index += 1) rounds.push({ their: await costOf(theirs, work), our: await costOf(ours, work) });
    print(`\n${name === 'one' ? 'POST /v1/tasks     ' : 'POST /v1/tasks/bulk'}                Muster      by hand   ratio`);
    printRow('tasks a second', rounds, 'perSecond');
    printRow('CPU of Node for a task, µs', rounds, 'nodeMicros');
    printRow('CPU of Redis for a task, µs', rounds, 'redisMicros');
  }
  print('\nRedis commands for a task, those inside scripts included');
  print(`Muster         ${await commandsOf(ours, WORKS.one)}`);
  print(`Muster, bulk   ${await commandsOf(ours, WORKS.bulk)}`);
  print(`by hand        ${await commandsOf(theirs, WORKS.one)}`);
} finally {
  monitor.disconnect();
  await ours.stop();
  await theirs.stop();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
}
