import { startRedis } from '../support/redis/start-redis.ts';
import { progress, readOptions } from './bench-options.ts';
import { inFlight, perSecond } from './in-flight.ts';
import {
  AGENT_CAP,
  deadline,
  EVERYTHING,
  type Extras,
  extrasOf,
  facts,
  idempotencyKey,
  LIMITED,
  priority,
  session,
} from './fleets/loaded-tasks.ts';
import { type FleetOptions, OurFleet } from './fleets/our-fleet.ts';
import { print, printHeading } from './print.ts';
import { median } from './statistics.ts';

// What features and metrics cost: each beside a fleet without, interleaved.
const { rounds: ROUNDS, tasks: TASKS } = readOptions({ rounds: 5, tasks: 5000 });
const IN_FLIGHT = 50;
const SLOTS = 200;

type Accept = (fleet: OurFleet, index: number) => Promise<void>;

interface Variant {
  name: string;
  options?: FleetOptions;
  accept: Accept;
}

interface Figures {
  accept: number;
  run: number;
  both: number;
}

const PLAIN: Variant = { name: 'without', accept: (fleet) => fleet.accept() };
function variant(name: string, extras: readonly Extras[], options?: FleetOptions): Variant {
  return {
    name,
    ...(options === undefined ? {} : { options }),
    accept: async (fleet, index) => await fleet.acceptAs(extrasOf(extras, index)),
  };
}

const VARIANTS = [
  variant('caps, rates, a weight', [], LIMITED),
  variant('mixed priorities', [priority]),
  variant('a cap of its agent', [], AGENT_CAP),
  variant('a session each', [session]),
  variant('an idempotency key', [idempotencyKey]),
  variant('a deadline', [deadline]),
  variant('metadata, context', [facts]),
  variant('all of these', EVERYTHING, { ...LIMITED, ...AGENT_CAP }),
];

const METERED: Variant = { name: 'with metrics', accept: PLAIN.accept };
const UNMETERED: Variant = { name: 'without', options: { metrics: { flushMs: null } }, accept: PLAIN.accept };

async function measure(fleet: OurFleet, accept: Accept): Promise<Figures> {
  const accepted = await perSecond(TASKS, async () => {
    await inFlight(TASKS, IN_FLIGHT, (index) => accept(fleet, index));
    await fleet.parts.relay.idle();
  });
  const run = await perSecond(TASKS, () => fleet.process(TASKS, SLOTS));
  return { accept: accepted, run, both: 1 / (1 / accepted + 1 / run) };
}

async function open({ options }: Variant): Promise<{ fleet: OurFleet; close: () => Promise<void> }> {
  const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'] });
  const fleet = await OurFleet.open(server.url, options);
  const close = async (): Promise<void> => {
    await fleet.parts.close();
    await server.stop();
  };
  return { fleet, close };
}

/** Measures two fleets in turn and prints what the second has of the first. */
async function compare(one: Variant, other: Variant): Promise<void> {
  progress(other.name);
  const [plain, loaded] = [await open(one), await open(other)];
  const rounds: { plain: Figures; loaded: Figures }[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const figures = { plain: await measure(plain.fleet, one.accept), loaded: await measure(loaded.fleet, other.accept) };
    // The first is for warming up.
    if (round >= 0) rounds.push(figures);
  }
  await plain.close();
  await loaded.close();
  const cells = (['accept', 'run', 'both'] as const).map((name) => {
    const rate = median(rounds.map((each) => each.loaded[name])).toFixed(0);
    const ratio = median(rounds.map((each) => each.loaded[name] / each.plain[name])).toFixed(2);
    return `${rate.padStart(10)}${ratio.padStart(7)}`;
  });
  print(`${other.name.padEnd(24)}${cells.join('')}`);
}

const heading = await startRedis();
await printHeading(heading.url, 'What it costs', [
  `${ROUNDS} interleaved rounds of ${TASKS} tasks, ${IN_FLIGHT} accepted at once, then run in ${SLOTS} slots; medians. Ratio: of the same without.`,
  'Everything on: caps, rates, a weight, a session and its lane, a shared lane, an idempotency key, a deadline, mixed priorities, metadata.',
]);
await heading.stop();
print(`\n${''.padEnd(24)}    accept  ratio       run  ratio      both  ratio`);
for (const each of VARIANTS) await compare(PLAIN, each);
await compare(UNMETERED, METERED);
