import { z } from 'zod';
import { publicTenantId } from '#shared/tenants/index.ts';
import type { DaemonAddress, LastState } from '#shared/daemons/index.ts';
import { liveFields, viewLive } from '../daemons/daemon-view.ts';
import { type Snapshot, WORKER_STATUSES, type WorkerRecord } from '#shared/queue/index.ts';
import { releaseOf } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';

const instant = z.iso.datetime();
const UNREPORTED = 'null when its release does not report it.';

const WORKER_EXAMPLE = {
  id: 'worker-7d9f-1-3fa2@v1.4.0',
  host: 'worker-7d9f',
  pid: 1,
  version: '0.1.0',
  release: 'v1.4.0',
  status: 'busy' as const,
  group: 'default',
  queues: ['critical', 'chat', 'tasks', 'maintenance'],
  slots: 28,
  running: 3,
  suspects: 0,
  memoryMb: 180,
  cpu: 0.12,
  eventLoopDelayMs: 1.4,
  skewMs: 2,
  stopped: [],
  blocked: { count: 0, lastAt: null, longestMs: 0 },
  startedAt: '2026-05-01T08:00:00.000Z',
  lastBeatAt: '2026-05-01T09:00:00.000Z',
  drainRequestedAt: null,
};

const SNAPSHOT_EXAMPLE = {
  at: '2026-05-01T09:00:00.000Z',
  host: 'worker-7d9f',
  cpuPercent: 12.5,
  memoryMb: 1800,
  totalMemoryMb: 8000,
  load: 0.4,
  activeWorkers: 2,
  activeHubs: 1,
  running: 5,
  lanesHeld: 5,
  sessions: 3,
};

/** A worker as callers see it. */
export const workerViewSchema = z
  .strictObject({
    id: z.string().meta({ description: 'Its name in records and logs: machine, process and a random part.' }),
    host: z.string().meta({ description: 'The machine, or the pod.' }),
    pid: z.int().meta({ description: 'Its process on that machine.' }),
    version: z
      .string()
      .nullable()
      .meta({ description: `Of Muster; ${UNREPORTED}` }),
    release: z.string().nullable().meta({ description: 'What it runs, by its `MUSTER_RELEASE`; null for an earlier version of Muster.' }),
    group: z
      .string()
      .nullable()
      .meta({ description: `The workers that it is scaled with, by \`MUSTER_WORKER_GROUP\`; null for a hub, and ${UNREPORTED}` }),
    status: z.enum(WORKER_STATUSES).meta({
      description:
        '`idle` runs nothing now, `busy` something; `draining` takes nothing more; `dead` missed its heartbeats; `alive` does not report what it runs.',
    }),
    queues: z.array(z.string()).meta({ description: 'What it serves.' }),
    slots: z
      .int()
      .nullable()
      .meta({ description: `Attempts that it may run at once, over all queues; ${UNREPORTED}` }),
    running: z
      .int()
      .nullable()
      .meta({ description: `Attempts that it runs now, by their leases; ${UNREPORTED}` }),
    suspects: z.int().meta({ description: 'Of these, tasks that were lost with another worker and run isolated.' }),
    memoryMb: z
      .number()
      .nullable()
      .meta({ description: `Resident memory of its process in MiB; ${UNREPORTED}` }),
    cpu: z
      .number()
      .nullable()
      .meta({ description: `Cores that its process used since the heartbeat before; ${UNREPORTED}` }),
    eventLoopDelayMs: z
      .number()
      .nullable()
      .meta({ description: `99th percentile since the heartbeat before; ${UNREPORTED}` }),
    skewMs: z.number().meta({ description: "Its wall clock minus Redis's; negative when it is behind." }),
    stopped: z.array(z.string()).meta({ description: 'What does not move in it although it should, as in its `/readyz`.' }),
    blocked: z
      .strictObject({
        count: z.int().meta({ description: 'Blocks of its event loop since it started.' }),
        lastAt: instant.nullable().meta({ description: 'When the last one ended.' }),
        longestMs: z.number().meta({ description: 'The longest one.' }),
      })
      .meta({ description: 'Blocks of at least `worker.blockedMs`.' }),
    startedAt: instant.nullable().meta({ description: `By its own clock; ${UNREPORTED}` }),
    lastBeatAt: instant.meta({ description: "Its last heartbeat, by Redis's clock." }),
    drainRequestedAt: instant.nullable().meta({ description: 'When an operator requested its drain.' }),
  })
  .meta({ id: 'Worker', description: 'A worker: what it runs now, and the rest as of its last heartbeat.', examples: [WORKER_EXAMPLE] });

/** A snapshot as callers see it. */
const snapshotViewSchema = z
  .strictObject({
    at: instant.meta({ description: "When it was taken, by Redis's clock." }),
    host: z.string().meta({ description: 'The machine of the figures of CPU, memory and load.' }),
    cpuPercent: z.number().meta({ description: 'Use of all cores since the snapshot before, 0 to 100.' }),
    memoryMb: z.number().meta({ description: 'Memory in use, MiB.' }),
    totalMemoryMb: z.number().meta({ description: 'Memory in all, MiB.' }),
    load: z.number().meta({ description: 'Processes that ran or waited for a core, over one minute.' }),
    activeWorkers: z.int().meta({ description: 'Workers that were not dead.' }),
    activeHubs: z.int().meta({ description: 'Hubs, which serve daemons, that were not dead; the API is one where it has the hub.' }),
    running: z.int().meta({ description: 'Attempts that ran.' }),
    lanesHeld: z.int().meta({ description: 'Lanes that running tasks held.' }),
    sessions: z.int().meta({ description: 'Of these, the lanes of sessions.' }),
  })
  .meta({
    id: 'Snapshot',
    description: 'A machine of the fleet, and what the fleet ran, every `fleet.snapshotMs`.',
    examples: [SNAPSHOT_EXAMPLE],
  });

/** A hub as callers see it. */
const hubViewSchema = workerViewSchema.extend({ daemons: z.int().meta({ description: 'Daemons that are connected to it.' }) }).meta({
  id: 'Hub',
  description: 'A hub: what it runs now, and the rest as of its last heartbeat.',
  examples: [{ ...WORKER_EXAMPLE, queues: ['remote'], daemons: 12 }],
});

/** A daemon as the fleet shows it. */
const fleetDaemonSchema = z
  .strictObject({
    id: z.string().meta({ description: 'As in `/v1/daemons`.' }),
    tenant: z.string().meta({ description: 'Whose it is.' }),
    name: z.string().meta({ description: 'What people call it.' }),
    user: z.string().nullable().meta({ description: 'Only tasks of this user of the tenant reach it; null for tasks of all.' }),
    ...liveFields,
  })
  .meta({ id: 'FleetDaemon', description: 'A daemon that is, or was, connected.' });

/** What `GET /v1/fleet` answers. */
export const fleetViewSchema = z
  .strictObject({
    workers: z.array(workerViewSchema).meta({ description: 'The last heartbeat first, dead ones at the end. Empty for other tenants.' }),
    daemons: z.array(fleetDaemonSchema).meta({
      description:
        'Connected ones first, then the last beat first, at most `fleet.maxDaemons`: all for the tenant `default`, else those of the tenant.',
    }),
    hubs: z.array(hubViewSchema).meta({ description: 'As `workers`, and empty for other tenants.' }),
    snapshots: z.array(snapshotViewSchema).meta({ description: 'Newest first, at most `fleet.maxSnapshots`. Empty for other tenants.' }),
  })
  .meta({ id: 'Fleet', examples: [{ workers: [WORKER_EXAMPLE], daemons: [], hubs: [], snapshots: [SNAPSHOT_EXAMPLE] }] });

export function viewHub(hub: WorkerRecord, daemons: number): z.infer<typeof hubViewSchema> {
  return { ...viewWorker(hub), daemons };
}

export function viewFleetDaemon({ tenant, id, ...last }: DaemonAddress & LastState, now: number): z.infer<typeof fleetDaemonSchema> {
  const { name, user } = last.state;
  return { id, tenant: publicTenantId(tenant), name, user, ...viewLive(last, now) };
}

export function viewWorker({ blocks, role: _role, sure: _sure, ...worker }: WorkerRecord): z.infer<typeof workerViewSchema> {
  return {
    ...worker,
    release: releaseOf(worker.id),
    blocked: { ...blocks, lastAt: toIso(blocks.lastAt) },
    startedAt: toIso(worker.startedAt),
    lastBeatAt: new Date(worker.lastBeatAt).toISOString(),
    drainRequestedAt: toIso(worker.drainRequestedAt),
  };
}

export function viewSnapshot(snapshot: Snapshot): z.infer<typeof snapshotViewSchema> {
  return { ...snapshot, at: new Date(snapshot.at).toISOString() };
}
