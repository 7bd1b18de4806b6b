import { Gauge, Registry } from 'prom-client';
import type { Ledger } from '../ledger/index.ts';
import type { Queues } from '../queue/index.ts';
import { readUnfollowedEnds, readWaitingDeliveries } from './outbound-backlog.ts';

interface GaugeOptions {
  name: string;
  help: string;
  label: string;
  /** Its values by label; those without one are left out. */
  read: () => Promise<[label: string, value: number | null][]>;
}

/** Figures by which an operator sees that nobody sends results or follows runs; read when they are asked for, absent while Redis is away. */
export function outboundMetrics({ ledger, queues }: { ledger: Pick<Ledger, 'redis' | 'keys'>; queues: Queues }): Registry {
  const registry = new Registry();
  const gauges: GaugeOptions[] = [
    {
      name: 'muster_ends_unfollowed',
      help: 'Ended tasks of which nobody outside the ledger was told yet',
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
