import { Gauge, Registry } from 'prom-client';
import { type Ledger, listEnded } from '../ledger/index.ts';
import { OUTBOUND_QUEUES, type OutboundQueue, type Queues } from '../queue/index.ts';
import { END_KINDS } from './delivery.ts';

/** Ends of tasks that nothing outside the ledger has followed yet. */
interface UnfollowedEnds {
  /** `run` is followed for its schedule; the others become deliveries. */
  kind: (typeof FOLLOWED)[number];
  count: number;
  /** When the oldest ended, ms since the epoch; null without any. */
  oldestAt: number | null;
}

interface WaitingDeliveries {
  queue: OutboundQueue;
  waiting: number;
  /** Processes that take them; null where Redis does not say. */
  takers: number | null;
}

const FOLLOWED = [...END_KINDS, 'run'] as const;

/** Unfollowed ends stay in the ledger, so their count and age show that no process follows them. */
export async function readUnfollowedEnds(ledger: Pick<Ledger, 'redis' | 'keys'>): Promise<UnfollowedEnds[]> {
  const shards = Array.from({ length: ledger.keys.shards }, (_, shard) => shard);
  return await Promise.all(
    FOLLOWED.map(async (kind) => {
      const counts = await Promise.all(
        shards.map((shard) => ledger.redis.zlexcount(ledger.keys.shard(shard).ended, `[${kind}/`, `(${kind}0`)),
      );
      const firsts = (await Promise.all(shards.map((shard) => listEnded(ledger, shard, kind, 1)))).flat();
      const oldestAt = firsts.length === 0 ? null : Math.min(...firsts.map(({ endedAt }) => endedAt));
      return { kind, count: counts.reduce((sum, count) => sum + count, 0), oldestAt };
    }),
  );
}

/** Deliveries that wait for a process, and how many processes take them. */
export async function readWaitingDeliveries(queues: Queues): Promise<WaitingDeliveries[]> {
  return await Promise.all(
    OUTBOUND_QUEUES.map(async (name) => {
      const shards = queues.all().filter((each) => each.name === name);
      const counts = await Promise.all(shards.map(({ queue }) => queue.getWaitingCount()));
      const takers = await Promise.all(shards.map(({ queue }) => queue.getWorkersCount())).catch(() => null);
      return { queue: name, waiting: counts.reduce((sum, count) => sum + count, 0), takers: takers && Math.min(...takers) };
    }),
  );
}

interface GaugeOptions {
  name: string;
  help: string;
  label: string;
  /** Its values by label; those without one are left out. */
  read: () => Promise<[label: string, value: number | null][]>;
}

/** Figures that show an operator that no process sends results or follows runs; read on request, absent while Redis is away. */
export function outboundMetrics({ ledger, queues }: { ledger: Pick<Ledger, 'redis' | 'keys'>; queues: Queues }): Registry {
  const registry = new Registry();
  const gauges: GaugeOptions[] = [
    {
      name: 'muster_ends_unfollowed',
      help: 'Ended tasks that nothing outside the ledger has followed yet',
      label: 'kind',
      read: async () => (await readUnfollowedEnds(ledger)).map(({ kind, count }) => [kind, count]),
    },
    {
      name: 'muster_ends_unfollowed_oldest_seconds',
      help: 'How long ago the oldest of them ended',
      label: 'kind',
      read: async () => (await readUnfollowedEnds(ledger)).map(({ kind, oldestAt }) => [kind, ageSeconds(oldestAt)]),
    },
    {
      name: 'muster_deliveries_waiting',
      help: 'Deliveries that wait for a process to take them',
      label: 'queue',
      read: async () => (await readWaitingDeliveries(queues)).map(({ queue, waiting }) => [queue, waiting]),
    },
    {
      name: 'muster_deliveries_takers',
      help: 'Processes that take deliveries',
      label: 'queue',
      read: async () => (await readWaitingDeliveries(queues)).map(({ queue, takers }) => [queue, takers]),
    },
  ];
  for (const options of gauges) addGauge(registry, options);
  return registry;
}

function addGauge(registry: Registry, { name, help, label, read }: GaugeOptions): void {
  const gauge = new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect: async () => {
      const values = await read().catch(() => []);
      gauge.reset();
      for (const [labelled, value] of values) if (value !== null) gauge.set({ [label]: labelled }, value);
    },
  });
}

function ageSeconds(at: number | null): number {
  return at === null ? 0 : Math.max(0, (Date.now() - at) / 1000);
}
