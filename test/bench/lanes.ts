import { Redis } from 'ioredis';
import { startRedis } from '../support/redis/start-redis.ts';
import { cpuSecondsOfRedis } from './fixtures/cpu-seconds.ts';
import { graphileQueuesPerSecond } from './rivals/graphile-queues.ts';
import { inFlight, perSecond } from './in-flight.ts';
import { BENCH_QUEUE_SLOTS, OurFleet } from './fleets/our-fleet.ts';
import { startPostgres } from './rivals/postgres.ts';
import { print, printHeading } from './print.ts';
import { median } from './statistics.ts';
import { readSize } from './bench-options.ts';

// What lanes cost: the same tasks with and without a session, interleaved, and next to them graphile-worker's named queues.
const ROUNDS = 3;
const SESSIONS = readSize(1, 1000);
const TURNS = 10;
const TASKS = SESSIONS * TURNS;
const IN_FLIGHT = 50;
/** Accepted and run before the first round: code compiled, scripts loaded. */
const WARM = 2000;

const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'] });
const fleet = await OurFleet.open(server.url);
const monitor = new Redis(server.url);

interface Round {
  /** Tasks a second. */
  accept: number;
  run: number;
  /** Tasks a second through both, one after the other. */
  both: number;
  /** CPU time for a task from its acceptance to its end, microseconds. */
  redisMicros: number;
  nodeMicros: number;
}

/** Accepts and runs all tasks. */
async function measure(sessionOf: (index: number) => string | undefined, tasks = TASKS): Promise<Round> {
  const [redisBefore, nodeBefore] = [await cpuSecondsOfRedis(monitor), process.cpuUsage()];
  const accept = await perSecond(tasks, async () => {
    await inFlight(tasks, IN_FLIGHT, (index) => fleet.accept(sessionOf(index)));
    await fleet.parts.relay.idle();
  });
  const run = await perSecond(tasks, () => fleet.process(tasks));
  const node = process.cpuUsage(nodeBefore);
  return {
    accept,
    run,
    both: 1 / (1 / accept + 1 / run),
    redisMicros: (((await cpuSecondsOfRedis(monitor)) - redisBefore) * 1e6) / tasks,
    nodeMicros: (node.user + node.system) / tasks,
  };
}

function printTable(withLanes: readonly Round[], without: readonly Round[]): void {
  const row = (name: string, of: keyof Round): void => {
    const [ours, plain] = [withLanes, without].map((rounds) => median(rounds.map((each) => each[of])));
    const ratio = median(withLanes.map((each, index) => each[of] / (without[index]?.[of] ?? Number.NaN)));
    print(`${name.padEnd(44)}${(ours ?? 0).toFixed(0).padStart(12)}${(plain ?? 0).toFixed(0).padStart(12)}${ratio.toFixed(2).padStart(8)}`);
  };
  print(`\n${''.padEnd(44)}  with lanes     without   ratio`);
  row('accept, a second', 'accept');
  row('claim, run, settle, a second', 'run');
  row('both, a second (goal: ratio of 0.90)', 'both');
  row('CPU of Redis for a task, µs', 'redisMicros');
  row('CPU of Node for a task, µs', 'nodeMicros');
}

async function measureGraphile(): Promise<void> {
  const postgres = await startPostgres();
  if (postgres === null) {
    print('\ngraphile-worker: not measured, because there is no PostgreSQL (Debian: apt-get install postgresql)');
    return;
  }
  try {
    const theirs = await graphileQueuesPerSecond(postgres.url, SESSIONS, TURNS);
    print(`\ngraphile-worker's named queues, the same work, run only, in the first 15 seconds at most: ${theirs.toFixed(0)} a second`);
  } finally {
    await postgres.stop();
  }
}

try {
  await printHeading(server.url, 'Lanes', [
    `The same ${TASKS} tasks, accepted and then run by one worker process: without a session, and as ${SESSIONS} sessions of ${TURNS}`,
    `messages, whose lanes run one at a time. ${ROUNDS} interleaved rounds, ${IN_FLIGHT} accepted at once, ${BENCH_QUEUE_SLOTS} slots; medians.`,
    'Without lanes a ticket is made when a task is accepted; in a lane when its turn comes, so that only both together compare.',
  ]);
  await measure((task) => (task % 2 === 0 ? `warm-${task % 100}` : undefined), WARM);
  const without: Round[] = [];
  const withLanes: Round[] = [];
  for (let index = 0; index < ROUNDS; index += 1) {
    without.push(await measure(() => undefined));
    withLanes.push(await measure((task) => `${index}-${task % SESSIONS}`));
  }
  printTable(withLanes, without);
  await measureGraphile();
} finally {
  monitor.disconnect();
  await fleet.parts.close();
  await server.stop();
}
