import { type TaskQueue, TASK_QUEUES } from '../../config/index.ts';
import { shardKeys } from '../context.ts';
import { type IssuedTicket, levelName, parseReadyTicket } from '../grants/tickets.ts';
import type { Ledger } from '../ledger.ts';
import { readLevels } from './read-levels.ts';
import { pageOfTurns, type TurnLine, type TurnPlace } from './turn-order.ts';

/** A ticket that waits for its turn. */
export type ReadyTicket = Omit<IssuedTicket, 'entry'>;

type ReadyPorts = Pick<Ledger, 'redis' | 'keys' | 'run'>;

const NO_END = '\u00ff';
const PRIORITIES = Array.from({ length: 10 }, (_, position) => 10 - position);

/** How many tickets of a queue and shard wait for their turn. */
export async function countReady({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, shard: number, queue: string): Promise<number> {
  return await redis.zlexcount(keys.shard(shard).ready, `[${queue}/`, `(${queue}/${NO_END}`);
}

/** How many tickets of a queue and shard have this priority or a better one. */
export async function countReadyUpTo(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  shard: number,
  { queue, priority }: { queue: TaskQueue; priority: number },
): Promise<number> {
  return await redis.zlexcount(keys.shard(shard).ready, `[${queue}/`, `(${levelName(queue, priority)}${NO_END}`);
}

/** Tickets that wait for their turn at the places `from` to `to` (not included) of a queue and shard, in the order of their turns. */
export async function listReady(ports: ReadyPorts, shard: number, queue: string, [from, to]: [number, number]): Promise<ReadyTicket[]> {
  const name = TASK_QUEUES.find((each) => each === queue);
  if (name === undefined || to <= from) return [];
  const counts = await Promise.all(PRIORITIES.map((priority) => countReady(ports, shard, levelName(name, priority).slice(0, -1))));
  const found: ReadyTicket[] = [];
  let passed = 0;
  for (const [position, priority] of PRIORITIES.entries()) {
    const count = counts[position] ?? 0;
    const first = Math.max(0, from - passed);
    const last = Math.min(count, to - passed);
    if (first < last) found.push(...(await listLevel(ports, { shard, queue: name, priority, count }, [first, last])));
    passed += count;
  }
  return found;
}

interface LevelPlace {
  shard: number;
  queue: TaskQueue;
  priority: number;
  count: number;
}

async function listLevel(ports: ReadyPorts, level: LevelPlace, [from, to]: [number, number]): Promise<ReadyTicket[]> {
  const { redis, keys } = ports;
  const { ready } = keys.shard(level.shard);
  const prefix = levelName(level.queue, level.priority);
  const { lines } = await readLevels(ports, level.shard, level);
  // Where the turns are not known in full, all are shown by tenant.
  if (lines.reduce((sum: number, line: TurnLine) => sum + line.ready, 0) < level.count) {
    return parse(await redis.zrangebylex(ready, `[${prefix}`, `(${prefix}${NO_END}`, 'LIMIT', from, to - from));
  }
  const places = pageOfTurns(lines, from, to);
  const ranges = [...Map.groupBy(places, ({ tenant }) => tenant)].map(async ([tenant, own]) => {
    const begin = `${prefix}${tenant}/`;
    const offset = Math.min(...own.map(({ index }) => index));
    const texts = await redis.zrangebylex(ready, `[${begin}`, `(${begin}${NO_END}`, 'LIMIT', offset, own.length);
    return [tenant, { offset, tickets: parse(texts) }] as const;
  });
  const byTenant = new Map(await Promise.all(ranges));
  return places.flatMap(({ tenant, index }: TurnPlace) => {
    const own = byTenant.get(tenant);
    return own?.tickets[index - own.offset] ?? [];
  });
}

/** Tickets of one tenant that wait for their turn in a queue, the best first, at most `max`. */
export async function listTenantReady(ports: ReadyPorts, tenant: string, queue: string, max: number): Promise<ReadyTicket[]> {
  const name = TASK_QUEUES.find((each) => each === queue);
  if (name === undefined) return [];
  const { ready } = shardKeys(ports, tenant);
  const levels = PRIORITIES.map(async (priority) => {
    const begin = `${levelName(name, priority)}${tenant}/`;
    return parse(await ports.redis.zrangebylex(ready, `[${begin}`, `(${begin}${NO_END}`, 'LIMIT', 0, max));
  });
  return (await Promise.all(levels)).flat().slice(0, max);
}

function parse(texts: readonly string[]): ReadyTicket[] {
  return texts.map((text) => parseReadyTicket(text));
}
