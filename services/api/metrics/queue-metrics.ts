import { z } from 'zod';
import { SOURCES } from '#shared/config/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { readThroughput, type Throughput } from '#shared/metrics/index.ts';
import type { Load, LoadReader } from '#shared/queue/index.ts';
import { PRIORITY_BANDS } from '#shared/tasks/index.ts';
import { assertFleetOwner } from '../fleet/fleet-owner.ts';
import { type Capacity, readCapacity, type CapacityPorts } from './read-capacity.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);

const queueMetricsSchema = z
  .strictObject({
    queue_depth_total: count.meta({ description: 'Tasks that wait: accepted, not ended, not running.' }),
    queue_depth_by_priority: z.record(z.enum(PRIORITY_BANDS), count).meta({
      description: 'The same by priority: `critical` is that queue, `high` 8 and more, `low` 2 and less.',
    }),
    queue_depth_by_source: z.record(z.enum(SOURCES), count).meta({ description: 'The same by source.' }),
    tasks_enqueued_per_minute: count.meta({ description: 'Tasks accepted in the last minute.' }),
    tasks_completed_per_minute: count.meta({ description: 'Tasks completed in the last minute.' }),
    tasks_failed_per_minute: count.meta({ description: 'Tasks that failed for good in the last minute.' }),
    avg_queue_wait_time_ms: count.meta({ description: 'From acceptance, or the time a task was for, to its first attempt; the mean.' }),
    avg_execution_time_ms: count.meta({ description: 'Of attempts that completed, failed or took too long; the mean.' }),
    p99_queue_wait_time_ms: count.meta({
      description: 'The wait that 99 of 100 tasks do not exceed, to the precision of buckets, and at most the longest.',
    }),
    p99_execution_time_ms: count.meta({ description: 'The same of attempts.' }),
    daemons_online: count.meta({ description: 'Workers, and daemons, that take work now.' }),
    daemons_busy: count.meta({ description: 'Of these, those that run a task.' }),
    total_daemon_capacity: count.meta({ description: 'Tasks that they can run at once; of a tenant, no more than its limit.' }),
    used_daemon_capacity: count.meta({ description: 'Tasks that run.' }),
    retry_rate: share.meta({ description: 'The share of attempts that another one follows because they failed.' }),
    failure_rate: share.meta({ description: 'Of the tasks that completed or failed for good, the share of the latter.' }),
    timeout_rate: share.meta({ description: 'The share of attempts that took too long.' }),
  })
  .meta({
    id: 'QueueMetrics',
    description: 'Means, quantiles and rates are of the last `metrics.windowMs`, a quarter of an hour; 0 without a task.',
    examples: [
      {
        queue_depth_total: 12,
        queue_depth_by_priority: { critical: 0, high: 1, normal: 9, low: 2 },
        queue_depth_by_source: { chat: 1, api: 9, proactive: 0, webhook: 2, schedule: 0, delegation: 0 },
        tasks_enqueued_per_minute: 60,
        tasks_completed_per_minute: 58,
        tasks_failed_per_minute: 1,
        avg_queue_wait_time_ms: 240,
        avg_execution_time_ms: 8100,
        p99_queue_wait_time_ms: 1900,
        p99_execution_time_ms: 29_000,
        daemons_online: 2,
        daemons_busy: 2,
        total_daemon_capacity: 56,
        used_daemon_capacity: 8,
        retry_rate: 0.02,
        failure_rate: 0.01,
        timeout_rate: 0.001,
      },
    ],
  });
type QueueMetrics = z.infer<typeof queueMetricsSchema>;

const SCOPES = ['tenant', 'fleet'] as const;

/** `GET /v1/metrics`. */
export function getMetrics(ports: CapacityPorts, loads: LoadReader): Route {
  return route({
    method: 'get',
    path: '/v1/metrics',
    operationId: 'getQueueMetrics',
    summary: 'How the queues are doing',
    description: 'Figures of the tenant; with `scope=fleet` those of the fleet, for keys of the tenant `default`.',
    scope: 'read',
    request: {
      query: z.strictObject({
        scope: z.enum(SCOPES).default('tenant').meta({ description: 'Whose figures: of the tenant of the key, or of the fleet.' }),
      }),
    },
    responses: { 200: queueMetricsSchema },
    handle: async ({ query }, call) => {
      if (query.scope === 'fleet') assertFleetOwner(call);
      return { status: 200, body: await readQueueMetrics(ports, loads, query.scope === 'fleet' ? null : call.tenant) };
    },
  });
}

async function readQueueMetrics(ports: CapacityPorts, loads: LoadReader, tenant: string | null): Promise<QueueMetrics> {
  const { redis, keys, settings } = ports.ledger;
  const [load, throughput] = await Promise.all([loads.read(tenant), readThroughput({ redis, keys, settings }, tenant)]);
  return { ...depthOf(load), ...flowOf(throughput), ...capacityOf(await readCapacity(ports, tenant, load)) };
}

function depthOf({ waiting }: Load) {
  const byPriority = PRIORITY_BANDS.map((band) => [band, sumOf(waiting.filter((each) => each.band === band))]);
  const bySource = SOURCES.map((source) => [source, sumOf(waiting.filter((each) => each.source === source))]);
  return queueMetricsSchema.pick({ queue_depth_total: true, queue_depth_by_priority: true, queue_depth_by_source: true }).parse({
    queue_depth_total: sumOf(waiting),
    queue_depth_by_priority: Object.fromEntries(byPriority),
    queue_depth_by_source: Object.fromEntries(bySource),
  });
}

function sumOf(waiting: Load['waiting']): number {
  return waiting.reduce((total, { count: tasks }) => total + tasks, 0);
}

function flowOf({ waited, ran, ...flow }: Throughput) {
  return {
    tasks_enqueued_per_minute: flow.acceptedPerMinute,
    tasks_completed_per_minute: flow.completedPerMinute,
    tasks_failed_per_minute: flow.failedPerMinute,
    avg_queue_wait_time_ms: waited.meanMs,
    avg_execution_time_ms: ran.meanMs,
    p99_queue_wait_time_ms: waited.p99Ms,
    p99_execution_time_ms: ran.p99Ms,
    retry_rate: flow.retryRate,
    failure_rate: flow.failureRate,
    timeout_rate: flow.timeoutRate,
  } satisfies Partial<QueueMetrics>;
}

function capacityOf({ online, busy, slots, used }: Capacity) {
  return {
    daemons_online: online,
    daemons_busy: busy,
    total_daemon_capacity: slots,
    used_daemon_capacity: used,
  } satisfies Partial<QueueMetrics>;
}
