import { TASK_QUEUES, type TaskQueue } from '#shared/config/index.ts';
import { countRunning, type Ledger, measureReady, readDepth, tenantsWithTasks } from '#shared/ledger/index.ts';
import type { FleetMetrics, Gauges, QueueGauge } from '#shared/metrics/index.ts';
import { countHeldByQueue, listWorkers, oldestTicketAt, type Queues } from '#shared/queue/index.ts';
import { redisNow } from '#shared/redis/index.ts';
import type { Tenant } from '#shared/tenants/index.ts';

interface SamplePorts {
  ledger: Ledger;
  tenants: { list(): Tenant[] };
  queues: Queues;
  metrics: FleetMetrics;
}

/** Tenants with work that one round measures; of more, the others have no figures of what runs and waits. */
const MAX_TENANTS = 500;

/** Measures what runs and waits, for the history of metrics: of the fleet, its queues, and the tenants with work. */
export async function sampleMetrics({ ledger, tenants, queues, metrics }: SamplePorts): Promise<void> {
  if (ledger.settings.metrics.flushMs === null) return;
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
    queues: await measureQueues(ledger, queues, await countHeldByQueue(ledger, busy)),
  };
  await metrics.addSamples([...samples, [null, fleet]]);
}

async function countSlots(ledger: Ledger): Promise<number> {
  const workers = await listWorkers(ledger);
  const open = workers.filter(({ role, status }) => role === 'worker' && status !== 'dead' && status !== 'draining');
  return open.reduce((total, { slots }) => total + (slots ?? 0), 0);
}

/** `held`: tasks without a ticket by queue. */
async function measureQueues(ledger: Ledger, queues: Queues, held: ReadonlyMap<TaskQueue, number>): Promise<QueueGauge[]> {
  const now = await redisNow(ledger.redis);
  return await Promise.all(TASK_QUEUES.map((name) => measureQueue({ ledger, queues, held: held.get(name) ?? 0 }, name, now)));
}

interface QueueParts {
  ledger: Ledger;
  queues: Queues;
  held: number;
}

async function measureQueue({ ledger, queues, held }: QueueParts, name: TaskQueue, now: number): Promise<QueueGauge> {
  let [waiting, oldestAt] = [held, Number.POSITIVE_INFINITY];
  for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
    const queue = queues.get(shard, name);
    const ready = await measureReady(ledger, shard, name);
    const { waiting: plain = 0, prioritized = 0 } = await queue.getJobCounts('waiting', 'prioritized');
    waiting += plain + prioritized + ready.count;
    oldestAt = Math.min(oldestAt, ready.oldestAt, plain + prioritized > 0 ? await oldestTicketAt(queue) : oldestAt);
  }
  return { name, waiting, oldestMs: Number.isFinite(oldestAt) ? Math.max(0, now - oldestAt) : null };
}
