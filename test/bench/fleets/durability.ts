import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { createLog } from '#shared/log/create-log.ts';
import { startRedis } from '../../support/redis/start-redis.ts';
import { readOptions } from '../bench-options.ts';
import { inFlight, perSecond } from '../in-flight.ts';
import { print, printHeading } from '../print.ts';
import { median, percentile } from '../statistics.ts';
import { OurFleet } from './our-fleet.ts';

// What it costs that an accepted task is on the disk of Redis before its sender is answered.
const { rounds: ROUNDS, tasks: TASKS } = readOptions({ rounds: 5, tasks: 2000 });
/** Senders that wait at the same time; one alone shows what each of them waits. */
const SENDERS = [1, 50, 500];
/** One sender sends so many. */
const ONE_SENDS = 20;

type Durability = NonNullable<NonNullable<SettingsInput['redis']>['durability']>;
interface Kind {
  durability: Durability;
  appendfsync: 'everysec' | 'always';
}
const KINDS: readonly Kind[] = [
  { durability: 'server', appendfsync: 'everysec' },
  { durability: 'always', appendfsync: 'always' },
  { durability: 'waitaof', appendfsync: 'everysec' },
  { durability: 'waitaof', appendfsync: 'always' },
];

interface Figures {
  perSecond: number;
  /** What a sender waits, ms. */
  p50: number;
  p99: number;
}

async function measure(fleet: OurFleet, senders: number): Promise<Figures> {
  const times: number[] = [];
  const tasks = senders === 1 ? ONE_SENDS : TASKS;
  const rate = await perSecond(tasks, () =>
    inFlight(tasks, senders, async () => {
      const from = performance.now();
      await fleet.accept();
      times.push(performance.now() - from);
    }),
  );
  await fleet.parts.relay.idle();
  return { perSecond: rate, p50: median(times), p99: percentile(times, 0.99) };
}

async function hasWaitaof(url: string): Promise<boolean> {
  const redis = connectRedis({ url, name: 'bench', log: createLog({ level: 'silent', service: 'bench' }) });
  try {
    await redis.call('WAITAOF', 1, 0, 1);
    return true;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}

let isHeaded = false;
for (const { durability, appendfsync } of KINDS) {
  const server = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', appendfsync, '--auto-aof-rewrite-percentage', '0'] });
  if (!isHeaded) {
    await printHeading(
      server.url,
      'What durability costs',
      [`Tasks accepted in this process; ${ROUNDS} rounds of ${TASKS} tasks (${ONE_SENDS} of one sender), medians. A sender's wait in ms.`],
      'AOF as the rows say',
    );
    print(
      `\n${'redis.durability, appendfsync'.padEnd(34)}${'senders'.padStart(8)}${'a second'.padStart(10)}${'p50'.padStart(9)}${'p99'.padStart(9)}`,
    );
    isHeaded = true;
  }
  const name = `${durability}, ${appendfsync}`.padEnd(34);
  if (durability === 'waitaof' && !(await hasWaitaof(server.url))) {
    print(`${name} this Redis has no WAITAOF; REDIS_SERVER names a newer one`);
    await server.stop();
    continue;
  }
  const fleet = await OurFleet.open(server.url, { redis: { durability } });
  await measure(fleet, SENDERS[1] ?? 1);
  for (const senders of SENDERS) {
    const rounds: Figures[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(fleet, senders));
    const of = (figure: keyof Figures, digits: number): string => median(rounds.map((each) => each[figure])).toFixed(digits);
    print(`${name}${String(senders).padStart(8)}${of('perSecond', 0).padStart(10)}${of('p50', 1).padStart(9)}${of('p99', 1).padStart(9)}`);
  }
  await fleet.parts.close();
  await server.stop();
}
