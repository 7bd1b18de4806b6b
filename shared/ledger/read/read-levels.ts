import { z } from 'zod';
import type { TaskQueue } from '../../config/index.ts';
import type { Ledger } from '../ledger.ts';
import type { TurnLine } from './turn-order.ts';

/** What waits of one queue and priority. */
export interface Level {
  queue: TaskQueue;
  priority: number;
  /** Tickets that wait for a slot. */
  ready: number;
}

/** What waits in a shard for workers. */
export interface ShardLevels {
  /** Those where something waits. */
  levels: Level[];
  /** The tenants that take turns at the requested level. */
  lines: TurnLine[];
  /** Steps whose tickets are not in BullMQ yet, and since when, ms since the epoch; null for none. */
  outbox: { entries: number; oldestAt: number | null };
}

/** Tenants of a level that are read; those behind them have their turns later. */
const MAX_LINES = 500;

const replySchema = z.tuple([
  z.array(z.union([z.string(), z.number()])),
  z.array(z.union([z.string(), z.number()])),
  z.number(),
  z.string(),
]);

/** Reads what waits in a shard, and the turns of one level, in one call. */
export async function readLevels(
  { keys, run }: Pick<Ledger, 'keys' | 'run'>,
  shard: number,
  { queue, priority }: Pick<Level, 'queue' | 'priority'>,
): Promise<ShardLevels> {
  const { ready, turns, weights, outbox } = keys.shard(shard);
  const reply = await run('read-levels', [ready, turns, weights, outbox], [queue, priority, MAX_LINES]);
  const [levels, lines, entries, oldest] = replySchema.parse(reply);
  return {
    levels: groupsOf(levels, LEVEL_FIELDS).map(([name, each, waiting]) => ({
      queue: name as TaskQueue,
      priority: Number(each),
      ready: Number(waiting),
    })),
    lines: groupsOf(lines, LINE_FIELDS).map(([tenant, start, waiting, cost, weight]) => ({
      tenant: String(tenant),
      start: Number(start),
      ready: Number(waiting),
      costMs: Number(cost),
      weight: Number(weight),
    })),
    outbox: { entries, oldestAt: oldest === '0' ? null : Number(oldest) },
  };
}

const LEVEL_FIELDS = 3;
const LINE_FIELDS = 5;

function groupsOf(values: readonly (string | number)[], size: number): (string | number | undefined)[][] {
  return Array.from({ length: values.length / size }, (_, at) => values.slice(at * size, (at + 1) * size));
}
