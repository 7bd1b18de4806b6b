import { countRunning, type Ledger, readDepth, tenantsWithTasks } from '#shared/ledger/index.ts';
import type { FleetMetrics, Gauges, QueueGauge } from '#shared/metrics/index.ts';
import { countByQueue, listWorkers, type LoadPorts, readLoad } from '#shared/queue/index.ts';
import type { Tenant } from '#shared/tenants/index.ts';

interface SamplePorts extends LoadPorts {
  readonly tenants: { list(): Tenant[] };
  readonly metrics: FleetMetrics;
}

/** Tenants with work that one round measures; of more, the others have no figures of what runs and waits. */
const MAX_TENANTS = 500;

/** Until the next round while no tenant has work, ms: each minute of the history has one. */
const QUIET_MS = 30_000;

/** Measures what runs and waits, for the history of metrics: of the fleet, its queues, and the tenants with work. Returns when to do so again. */
export async function sampleMetrics({ metrics, ...ports }: SamplePorts): Promise<number | undefined> {
  const { ledger, tenants } = ports;
  if (ledger.settings.metrics.flushMs === null) return undefined;
  const busy = [...(await tenantsWithTasks(ledger, tenants.list(), 'live')).keys()];
  const running = await countRunning(ledger);
  const samples: [tenant: string | null, gauges: Gauges][] = [];
  let depths = 0;
  for (const tenant of busy) {
    const { depth } = await readDepth(ledger, tenant);
    depths += depth;
    const own = running.get(tenant) ?? 0;
    if (samples.length < MAX_TENANTS) samples.push([tenant, { running: own, waiting: Math.max(0, depth - own) }]);
  }
  const all = [...running.values()].reduce((total, count) => total + count, 0);
  const fleet = {
    running: all,
    waiting: Math.max(0, depths - all),
    slots: await countSlots(ledger),
    queues: await measureQueues(ports),
  };
  await metrics.addSamples([...samples, [null, fleet]]);
  return busy.length === 0 ? QUIET_MS : undefined;
}

async function countSlots(ledger: Ledger): Promise<number> {
  const workers = await listWorkers(ledger);
  const open = workers.filter(({ role, status }) => role === 'worker' && status !== 'dead' && status !== 'draining');
  return open.reduce((total, { slots }) => total + (slots ?? 0), 0);
}

async function measureQueues(ports: LoadPorts): Promise<QueueGauge[]> {
  return [...countByQueue(await readLoad(ports, null))].map(([name, { waiting, oldestMs }]) => ({ name, waiting, oldestMs }));
}
