import { Redis } from 'ioredis';
import { newTaskId } from '#shared/tasks/ids.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { progress, readOptions } from './bench-options.ts';
import { HttpFleet } from './fleets/http-fleet.ts';
import { inFlight, perSecond } from './in-flight.ts';
import { OurFleet } from './fleets/our-fleet.ts';
import { print, printHeading } from './print.ts';
import { RawBullmq } from './rivals/raw-bullmq.ts';
import { median, percentile } from './statistics.ts';

const { rounds: ROUNDS, tasks: TASKS } = readOptions({ rounds: 7, tasks: 5000 });
const IN_FLIGHT = 50;
/** Tasks a worker runs at once: some, and as many as wait for slow answers in one process. */
const FEW_SLOTS = 50;
const MANY_SLOTS = 200;

const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'] });
const raw = new RawBullmq(server.url);
const ours = await OurFleet.open(server.url);
const http = await HttpFleet.open(ours.parts, IN_FLIGHT);
const monitor = new Redis(server.url);

interface Round {
  rawAdd: number;
  ourAccept: number;
  rawFew: number;
  ourFew: number;
  rawMany: number;
  ourMany: number;
  ourHttp: number;
  /** Added and processed, or accepted and run, one after the other. */
  rawBothFew: number;
  ourBothFew: number;
  rawBothMany: number;
  ourBothMany: number;
}

/** Tasks a second through both of two steps. */
function both(first: number, second: number): number {
  return 1 / (1 / first + 1 / second);
}

// With ids like ours, which a user of BullMQ who must not run a message twice gives as well.
const addRaw = async (): Promise<void> => await inFlight(TASKS, IN_FLIGHT, () => raw.add(newTaskId()));

async function round(): Promise<Round> {
  const rawAdd = await perSecond(TASKS, addRaw);
  const ourAccept = await perSecond(TASKS, async () => {
    await inFlight(TASKS, IN_FLIGHT, () => ours.accept());
    await ours.parts.relay.idle();
  });
  const rawFew = await perSecond(TASKS, () => raw.process(TASKS, FEW_SLOTS));
  const ourFew = await perSecond(TASKS, () => ours.process(TASKS, FEW_SLOTS));
  await addRaw();
  const ourHttp = await perSecond(TASKS, async () => {
    await inFlight(TASKS, IN_FLIGHT, () => http.accept());
    await ours.parts.relay.idle();
  });
  const rawMany = await perSecond(TASKS, () => raw.process(TASKS, MANY_SLOTS));
  const ourMany = await perSecond(TASKS, () => ours.process(TASKS, MANY_SLOTS));
  return {
    rawAdd,
    ourAccept,
    ourHttp,
    rawFew,
    ourFew,
    rawMany,
    ourMany,
    rawBothFew: both(rawAdd, rawFew),
    ourBothFew: both(ourAccept, ourFew),
    rawBothMany: both(rawAdd, rawMany),
    ourBothMany: both(ourAccept, ourMany),
  };
}

interface Calls {
  scripts: number;
  commands: number;
}

async function callsOf(work: () => Promise<unknown>): Promise<Calls> {
  await monitor.config('RESETSTAT');
  await work();
  const stats = await monitor.info('commandstats');
  const counts = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(([, name, calls]) => [name, Number(calls)] as const);
  const sum = (some: typeof counts): number => some.reduce((total, [, calls]) => total + calls, 0) / TASKS;
  return { scripts: sum(counts.filter(([name]) => name === 'evalsha' || name === 'eval')), commands: sum(counts) };
}

try {
  await printHeading(server.url, 'Muster against raw BullMQ', [
    'The same tasks through both, on the same Redis and in one process. Ratio: Muster of raw BullMQ, 1.00 is as fast.',
    `${ROUNDS} interleaved rounds of ${TASKS} tasks, ${IN_FLIGHT} accepted at once, run in ${FEW_SLOTS} and in ${MANY_SLOTS} slots; medians.`,
    'Most of Muster’s tickets are made after the accept, when slots become free: only both steps together compare in full.',
  ]);
  progress('warming up: code compiled, scripts loaded');
  await round();
  const rounds: Round[] = [];
  for (let index = 0; index < ROUNDS; index += 1) {
    progress(`round ${index + 1} of ${ROUNDS}`);
    rounds.push(await round());
  }
  const of = (name: keyof Round): number => median(rounds.map((each) => each[name]));
  const ratio = (our: keyof Round, their: keyof Round): number => median(rounds.map((each) => each[our] / each[their]));

  print('\n                          a second   raw BullMQ   ratio');
  print(`accept                    ${row(of('ourAccept'), of('rawAdd'), ratio('ourAccept', 'rawAdd'))}`);
  print(`accept through HTTP       ${row(of('ourHttp'), of('rawAdd'), ratio('ourHttp', 'rawAdd'))}`);
  print(`claim, run, settle: ${`${MANY_SLOTS}`.padStart(4)}  ${row(of('ourMany'), of('rawMany'), ratio('ourMany', 'rawMany'))}`);
  print(`             slots: ${`${FEW_SLOTS}`.padStart(4)}  ${row(of('ourFew'), of('rawFew'), ratio('ourFew', 'rawFew'))}`);

  print(
    `accept, then run:   ${`${MANY_SLOTS}`.padStart(4)}  ${row(of('ourBothMany'), of('rawBothMany'), ratio('ourBothMany', 'rawBothMany'))}`,
  );
  print(`             slots: ${`${FEW_SLOTS}`.padStart(4)}  ${row(of('ourBothFew'), of('rawBothFew'), ratio('ourBothFew', 'rawBothFew'))}`);

  progress('latencies');
  const latencies = await ours.latencies(500);
  print(`\naccept to start, idle     p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`);

  print('\nRedis per task            script calls   commands, those inside scripts included');
  const calls = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const { scripts, commands } = await callsOf(work);
    print(`${name.padEnd(26)}${scripts.toFixed(2).padStart(12)}${commands.toFixed(1).padStart(11)}`);
  };
  await calls('raw add', addRaw);
  await calls('raw process', () => raw.process(TASKS, MANY_SLOTS));
  await calls('accept', async () => {
    await inFlight(TASKS, IN_FLIGHT, () => ours.accept());
    await ours.parts.relay.idle();
  });
  await calls('claim, run, settle', () => ours.process(TASKS, MANY_SLOTS));
} finally {
  await raw.close();
  await http.close();
  await ours.parts.close();
  monitor.disconnect();
  await server.stop();
}

function row(ourRate: number, theirRate: number, share: number): string {
  return `${ourRate.toFixed(0).padStart(8)}${theirRate.toFixed(0).padStart(13)}${share.toFixed(2).padStart(8)}`;
}
