import { startRedis } from '../support/redis-server.ts';
import { graphileQueuesPerSecond } from './graphile-queues.ts';
import { inFlight, perSecond } from './in-flight.ts';
import { BENCH_QUEUE_SLOTS, OurFleet } from './our-fleet.ts';
import { startPostgres } from './postgres.ts';
import { median } from './statistics.ts';

// What lanes cost: the same tasks with and without a session, interleaved, and next to them graphile-worker's named queues.
const ROUNDS = 3;
const SESSIONS = Number(process.argv[2] ?? 10_000);
const TURNS = 10;
const TASKS = SESSIONS * TURNS;
const IN_FLIGHT = 50;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'] });
const fleet = await OurFleet.open(server.url);

/** Accepts and runs all tasks; answers with both rates. */
async function round(sessionOf: (index: number) => string | undefined): Promise<[accepted: number, ran: number]> {
  const accepted = await perSecond(TASKS, async () => {
    await inFlight(TASKS, IN_FLIGHT, (index) => fleet.accept(sessionOf(index)));
    await fleet.parts.relay.idle();
  });
  return [accepted, await perSecond(TASKS, () => fleet.process(TASKS))];
}

try {
  const without: [number, number][] = [];
  const withLanes: [number, number][] = [];
  for (let index = 0; index < ROUNDS; index += 1) {
    without.push(await round(() => undefined));
    withLanes.push(await round((task) => `${index}-${task % SESSIONS}`));
  }
  const of = (rounds: [number, number][], which: 0 | 1): number => median(rounds.map((each) => each[which]));
  const ratio = (which: 0 | 1): string =>
    median(withLanes.map((each, index) => each[which] / (without[index]?.[which] ?? Number.NaN))).toFixed(2);
  const whole = ([accepted, ran]: [number, number]): number => 1 / (1 / accepted + 1 / ran);
  const wholeRatio = median(withLanes.map((each, index) => whole(each) / whole(without[index] ?? [Number.NaN, Number.NaN])));
  print(`\n${ROUNDS} interleaved rounds, ${SESSIONS} sessions of ${TURNS} messages, ${BENCH_QUEUE_SLOTS} slots; medians\n`);
  print('                       with lanes   without   ratio');
  print(`accept, a second       ${row(of(withLanes, 0), of(without, 0))}   ${ratio(0)}`);
  print(`run, a second          ${row(of(withLanes, 1), of(without, 1))}   ${ratio(1)}`);
  print(`both, a second         ${row(median(withLanes.map(whole)), median(without.map(whole)))}   ${wholeRatio.toFixed(2)}`);
  const postgres = await startPostgres();
  if (postgres === null) {
    print('\ngraphile-worker: not measured, because there is no PostgreSQL (Debian: apt-get install postgresql)');
  } else {
    try {
      const theirs = await graphileQueuesPerSecond(postgres.url, SESSIONS, TURNS);
      print(`\ngraphile-worker's named queues, the same work: ${theirs.toFixed(0)} a second`);
    } finally {
      await postgres.stop();
    }
  }
} finally {
  await fleet.parts.close();
  await server.stop();
}

function row(ours: number, theirs: number): string {
  return `${ours.toFixed(0).padStart(10)}${theirs.toFixed(0).padStart(10)}`;
}
