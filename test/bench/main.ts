import { Redis } from 'ioredis';
import { newTaskId } from '#shared/tasks/ids.ts';
import { startRedis } from '../support/redis/start-redis.ts';
import { progress, readOptions } from './bench-options.ts';
import { HttpFleet } from './fleets/http-fleet.ts';
import { inFlight, perSecond } from './in-flight.ts';
import { AGENT_CAP, EVERYTHING, extrasOf, LIMITED } from './fleets/loaded-tasks.ts';
import { OurFleet } from './fleets/our-fleet.ts';
import { print, printHeading } from './print.ts';
import { RawBullmq } from './rivals/raw-bullmq.ts';
import { median, percentile } from './statistics.ts';

const { rounds: ROUNDS, tasks: TASKS } = readOptions({ rounds: 7, tasks: 5000 });
const IN_FLIGHT = 50;
/** Tasks a worker runs at once: some, and as many as wait for slow answers in one process. */
const FEW_SLOTS = 50;
const MANY_SLOTS = 200;

const REDIS_ARGS = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'];
const server = await startRedis({ args: REDIS_ARGS });
const raw = new RawBullmq(server.url);
const ours = await OurFleet.open(server.url);
const http = await HttpFleet.open(ours.parts, IN_FLIGHT);
const monitor = new Redis(server.url);
/** With limits of every kind, and tasks that carry all they can; on a Redis of its own, as it is another fleet. */
const loadedServer = await startRedis({ args: REDIS_ARGS });
const loaded = await OurFleet.open(loadedServer.url, { ...LIMITED, ...AGENT_CAP });

/** Tasks a second. */
interface Figures {
  accept: number;
  few: number;
  many: number;
  /** Added and processed, or accepted and run, one after the other. */
  bothFew: number;
  bothMany: number;
}

interface Round {
  raw: Figures;
  ours: Figures;
  /** With everything on. */
  loaded: Figures;
  http: number;
}

/** `both`: through both steps. */
function figures({ accept, few, many }: Pick<Figures, 'accept' | 'few' | 'many'>): Figures {
  const both = (run: number): number => 1 / (1 / accept + 1 / run);
  return { accept, few, many, bothFew: both(few), bothMany: both(many) };
}

// With ids like ours, which a user of BullMQ who must not run a message twice gives as well.
const addRaw = async (): Promise<void> => await inFlight(TASKS, IN_FLIGHT, () => raw.add(newTaskId()));

async function acceptOurs(): Promise<void> {
  await inFlight(TASKS, IN_FLIGHT, () => ours.accept());
  await ours.parts.relay.idle();
}

async function acceptLoaded(): Promise<void> {
  await inFlight(TASKS, IN_FLIGHT, (index) => loaded.acceptAs(extrasOf(EVERYTHING, index)));
  await loaded.parts.relay.idle();
}

async function acceptByHttp(): Promise<void> {
  await inFlight(TASKS, IN_FLIGHT, () => http.accept());
  await ours.parts.relay.idle();
}

async function round(): Promise<Round> {
  const accept = {
    raw: await perSecond(TASKS, addRaw),
    ours: await perSecond(TASKS, acceptOurs),
    loaded: await perSecond(TASKS, acceptLoaded),
  };
  const few = {
    raw: await perSecond(TASKS, () => raw.process(TASKS, FEW_SLOTS)),
    ours: await perSecond(TASKS, () => ours.process(TASKS, FEW_SLOTS)),
    loaded: await perSecond(TASKS, () => loaded.process(TASKS, FEW_SLOTS)),
  };
  await addRaw();
  await acceptLoaded();
  const byHttp = await perSecond(TASKS, acceptByHttp);
  const many = {
    raw: await perSecond(TASKS, () => raw.process(TASKS, MANY_SLOTS)),
    ours: await perSecond(TASKS, () => ours.process(TASKS, MANY_SLOTS)),
    loaded: await perSecond(TASKS, () => loaded.process(TASKS, MANY_SLOTS)),
  };
  const of = (who: 'raw' | 'ours' | 'loaded'): Figures => figures({ accept: accept[who], few: few[who], many: many[who] });
  return { raw: of('raw'), ours: of('ours'), loaded: of('loaded'), http: byHttp };
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
  print('\n                          a second   raw BullMQ   ratio');
  printFigures(rounds, 'ours');
  printRow('accept through HTTP', rounds, ({ http: ourRate, raw: { accept } }) => [ourRate, accept]);
  print('\nwith everything on');
  printFigures(rounds, 'loaded');

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
  await calls('accept', acceptOurs);
  await calls('claim, run, settle', () => ours.process(TASKS, MANY_SLOTS));
} finally {
  await raw.close();
  await http.close();
  await ours.parts.close();
  await loaded.parts.close();
  monitor.disconnect();
  await server.stop();
  await loadedServer.stop();
}

function printFigures(rounds: readonly Round[], who: 'ours' | 'loaded'): void {
  const rows = [
    ['accept', 'accept'],
    [`claim, run, settle: ${`${MANY_SLOTS}`.padStart(4)}`, 'many'],
    [`             slots: ${`${FEW_SLOTS}`.padStart(4)}`, 'few'],
    [`accept, then run:   ${`${MANY_SLOTS}`.padStart(4)}`, 'bothMany'],
    [`             slots: ${`${FEW_SLOTS}`.padStart(4)}`, 'bothFew'],
  ] as const;
  for (const [what, name] of rows) printRow(what, rounds, ({ raw: theirs, [who]: own }) => [own[name], theirs[name]]);
}

/** Medians of the rounds. `read`: our rate and theirs. */
function printRow(what: string, rounds: readonly Round[], read: (round: Round) => readonly [our: number, their: number]): void {
  const pairs = rounds.map(read);
  const [our, their] = [median(pairs.map(([rate]) => rate)), median(pairs.map(([, rate]) => rate))];
  const share = median(pairs.map(([rate, theirRate]) => rate / theirRate));
  print(`${what.padEnd(26)}${our.toFixed(0).padStart(8)}${their.toFixed(0).padStart(13)}${share.toFixed(2).padStart(8)}`);
}
