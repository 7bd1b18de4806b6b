import { Redis } from 'ioredis';
import { newTaskId } from '#shared/tasks/ids.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { progress, readOptions } from './bench-options.ts';
import { cpuSecondsOfRedis } from './fixtures/cpu-seconds.ts';
import { inFlight, perSecond } from './in-flight.ts';
import { OurFleet } from './fleets/our-fleet.ts';
import { print, printHeading } from './print.ts';
import { BullmqQueues } from './rivals/bullmq-queues.ts';
import { median } from './statistics.ts';

// How the cost of a task grows with the tenants that share the load and with the tasks that wait.
const { rounds: ROUNDS, tasks: TASKS, isFull, part } = readOptions({ rounds: 5, tasks: 5000 });
const IN_FLIGHT = 50;
const SLOTS = 200;
const TENANTS = [1, 100, 10_000];
/** Tasks that wait before the measured ones come; `--full` has the last. */
const WAITING = isFull ? [1000, 100_000, 1_000_000] : [1000, 100_000];
/** Queues of raw BullMQ: a worker for each has a connection of its own. */
const QUEUES = [1, 100];
const NO_LIMITS = { running: null, waiting: null, runningByClass: {}, runningLow: null, rates: {} };

/** What is measured, on a Redis of its own. */
interface Subject {
  name: string;
  accept: (index: number) => Promise<unknown>;
  /** All that was accepted is on its way to the workers. */
  accepted: () => Promise<unknown>;
  /** Returns ms, without the start of workers. */
  run: (count: number) => Promise<number>;
  close: () => Promise<void>;
}

interface Round {
  /** Tasks a second. */
  accept: number;
  run: number;
  both: number;
  /** For a task from its acceptance to its end. */
  redisMicros: number;
  nodeMicros: number;
  commands: number;
}

/** A subject with its rounds so far. */
interface Measured {
  subject: Subject;
  redis: Redis;
  rounds: Round[];
  /** Tasks accepted so far: each takes the next tenant. */
  next: number;
  close: () => Promise<void>;
}

type Open = (url: string) => Promise<Subject>;

const ofTenants =
  (count: number): Open =>
  async (url) => {
    const fleet = await OurFleet.open(url, { limits: { tenant: NO_LIMITS } });
    return subjectOf(fleet, `${count} ${count === 1 ? 'tenant' : 'tenants'}`, (index) => fleet.acceptAs({ tenant: `t${index % count}` }));
  };

const withWaiting =
  (count: number): Open =>
  async (url) => {
    const fleet = await OurFleet.open(url);
    await inFlight(count, IN_FLIGHT, () => fleet.accept());
    return subjectOf(fleet, `${count} waiting`, () => fleet.accept());
  };

const ofQueues =
  (count: number): Open =>
  (url) => {
    const queues = new BullmqQueues(url, count);
    return Promise.resolve({
      name: `raw BullMQ, ${count} ${count === 1 ? 'queue' : 'queues'}`,
      accept: (index) => queues.add(index, newTaskId()),
      accepted: () => Promise.resolve(),
      run: (tasks) => queues.process(tasks, SLOTS),
      close: () => queues.close(),
    });
  };

function subjectOf(fleet: OurFleet, name: string, accept: Subject['accept']): Subject {
  const { relay, close } = { relay: fleet.parts.relay, close: () => fleet.parts.close() };
  return { name, accept, accepted: () => relay.idle(), run: (tasks) => fleet.process(tasks, SLOTS), close };
}

async function open(make: Open): Promise<Measured> {
  const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'] });
  const [subject, redis] = [await make(server.url), new Redis(server.url)];
  const close = async (): Promise<void> => {
    await subject.close();
    redis.disconnect();
    await server.stop();
  };
  return { subject, redis, rounds: [], next: 0, close };
}

/** Accepts and runs tasks, as many as were accepted. */
async function measure(measured: Measured, tasks: number): Promise<Round> {
  const { subject, redis, next } = measured;
  measured.next += tasks;
  await redis.config('RESETSTAT');
  const [redisBefore, nodeBefore] = [await cpuSecondsOfRedis(redis), process.cpuUsage()];
  const accept = await perSecond(tasks, async () => {
    await inFlight(tasks, IN_FLIGHT, (index) => subject.accept(next + index));
    await subject.accepted();
  });
  const run = await perSecond(tasks, () => subject.run(tasks));
  const node = process.cpuUsage(nodeBefore);
  const calls = [...(await redis.info('commandstats')).matchAll(/^cmdstat_[^:]+:calls=(\d+)/gm)].map(([, count]) => Number(count));
  return {
    accept,
    run,
    both: 1 / (1 / accept + 1 / run),
    redisMicros: (((await cpuSecondsOfRedis(redis)) - redisBefore) * 1e6) / tasks,
    nodeMicros: (node.user + node.system) / tasks,
    commands: calls.reduce((sum, count) => sum + count, 0) / tasks,
  };
}

const FIGURES = ['accept', 'run', 'both', 'redisMicros', 'nodeMicros', 'commands'] as const satisfies readonly (keyof Round)[];

/** Prints the medians of each, and their ratio to the first. */
function printRows(all: readonly Measured[]): void {
  for (const { subject, rounds } of all) {
    const cells = FIGURES.map((name) => {
      const value = median(rounds.map((each) => each[name]));
      const ratio = median(rounds.map((each, at) => each[name] / (all[0]?.rounds[at]?.[name] ?? Number.NaN)));
      return `${value.toFixed(name === 'commands' ? 1 : 0).padStart(9)}${ratio.toFixed(2).padStart(6)}`;
    });
    print(`${subject.name.padEnd(24)}${cells.join('')}`);
  }
}

/** Measures some in turn; the first is what the others are compared with. */
async function compare(makers: readonly Open[], warm: (at: number) => number): Promise<void> {
  const all: Measured[] = [];
  for (const make of makers) all.push(await open(make));
  for (const [at, each] of all.entries()) {
    progress(`warming up: ${each.subject.name}`);
    await measure(each, warm(at));
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    progress(`round ${round + 1} of ${ROUNDS}`);
    for (const each of all) each.rounds.push(await measure(each, TASKS));
  }
  printRows(all);
  for (const each of all) await each.close();
}

const heading = await startRedis();
await printHeading(heading.url, 'How it grows', [
  `${ROUNDS} interleaved rounds of ${TASKS} tasks, ${IN_FLIGHT} accepted at once, then run in ${SLOTS} slots; medians, and ratios to the first of a group.`,
  'Tenants: each task is the next tenant’s, and every tenant had one before. Waiting: of one tenant, as many run as come.',
  'Raw BullMQ: a queue for each tenant, a worker for each queue with a share of the slots; all else is as in Muster’s tickets.',
]);
await heading.stop();
print(`\n${''.padEnd(24)}   accept           run          both      Redis µs       Node µs      commands`);
const isWanted = (name: string): boolean => part === undefined || part === name;
if (isWanted('tenants')) await compare(TENANTS.map(ofTenants), (at) => Math.max(TASKS, TENANTS[at] ?? 0));
if (isWanted('queues')) await compare(QUEUES.map(ofQueues), () => TASKS);
if (isWanted('waiting')) await compare(WAITING.map(withWaiting), () => TASKS);
