import { z } from 'zod';
import { type Attention, readAttention } from './installation.ts';
import { callApi } from './call-api.ts';
import { listOf } from './records.ts';

const workerSchema = z.object({
  id: z.string(),
  host: z.string(),
  pid: z.number(),
  version: z.string().nullable(),
  status: z.enum(['alive', 'idle', 'busy', 'draining', 'dead']),
  queues: z.array(z.string()),
  slots: z.number().nullable(),
  running: z.number().nullable(),
  memoryMb: z.number().nullable(),
  cpu: z.number().nullable(),
  eventLoopDelayMs: z.number().nullable(),
  skewMs: z.number(),
  stopped: z.array(z.string()),
  lastBeatAt: z.string(),
  drainRequestedAt: z.string().nullable(),
});
export type Worker = z.infer<typeof workerSchema>;

/** What a hub knows of a daemon. */
const liveFields = {
  id: z.string(),
  name: z.string(),
  user: z.string().nullable(),
  status: z.enum(['online', 'busy', 'draining', 'offline']),
  running: z.number(),
  load: z.number().nullable(),
  lastBeatAt: z.string().nullable(),
  host: z.string().nullable(),
  version: z.string().nullable(),
  memoryMb: z.number().nullable(),
  tasks: z.array(z.string()),
  offers: z.object({ capabilities: z.array(z.string()), slots: z.number(), agents: z.array(z.string()).nullable() }).nullable(),
};
const fleetDaemonSchema = z.object({ ...liveFields, tenant: z.string() });
export type FleetDaemon = z.infer<typeof fleetDaemonSchema>;

const daemonSchema = z.object({
  ...liveFields,
  enabled: z.boolean(),
  capabilities: z.array(z.string()).nullable(),
  slots: z.number().nullable(),
  agents: z.array(z.string()).nullable(),
});
export type Daemon = z.infer<typeof daemonSchema>;

const newDaemonSchema = daemonSchema.extend({ token: z.string() });
export type DaemonWithToken = z.infer<typeof newDaemonSchema>;

const snapshotSchema = z.object({
  at: z.string(),
  host: z.string(),
  cpuPercent: z.number(),
  memoryMb: z.number(),
  totalMemoryMb: z.number(),
  load: z.number(),
  activeWorkers: z.number(),
  running: z.number(),
  lanesHeld: z.number(),
});
export type Snapshot = z.infer<typeof snapshotSchema>;

const fleetSchema = z.object({
  workers: z.array(workerSchema),
  daemons: z.array(fleetDaemonSchema),
  hubs: z.array(workerSchema.extend({ daemons: z.number() })),
  snapshots: z.array(snapshotSchema),
});
export type Fleet = z.infer<typeof fleetSchema>;
export type Hub = Fleet['hubs'][number];

const runningSchema = listOf(z.object({ id: z.string(), agent: z.string(), worker: z.string().nullish() }));

/** A task that runs somewhere, as a link shows it. */
export interface RunningTask {
  id: string;
  agent: string;
  worker: string | null;
}

export interface FleetData extends Fleet {
  /** The daemons that the person's tenant registered. */
  registered: Daemon[];
  /** Running tasks of the person's tenant. */
  tasks: RunningTask[];
  /** What needs attention here: of workers, hubs, queues and daemons. */
  problems: Attention[];
}

const RUNNING_SHOWN = 200;

/** The pages of the console that what is shown here is about. */
const PAGES: ReadonlySet<string> = new Set(['/fleet', '/queues']);

/** The fleet, with what it runs. */
export async function readFleet(signal: AbortSignal): Promise<FleetData> {
  const [fleet, daemons, running, attention] = await Promise.all([
    callApi(fleetSchema, '/v1/fleet', { signal }),
    callApi(listOf(daemonSchema), '/v1/daemons', { signal }),
    callApi(runningSchema, `/v1/tasks?status=running&limit=${RUNNING_SHOWN}`, { signal }),
    readAttention(signal),
  ]);
  return {
    ...fleet,
    registered: daemons.items,
    tasks: running.items.map(({ id, agent, worker }) => ({ id, agent, worker: worker ?? null })),
    problems: attention.filter(({ link }) => PAGES.has(link ?? '')),
  };
}

export async function drainWorker(id: string): Promise<void> {
  await callApi(z.unknown(), `/v1/fleet/${encodeURIComponent(id)}/drain`, { method: 'POST' });
}

export interface DaemonRegistration {
  name: string;
  user: string | null;
  capabilities: string[] | null;
  slots: number | null;
  agents: string[] | null;
}

const daemonPath = (id: string): string => `/v1/daemons/${encodeURIComponent(id)}`;

export async function registerDaemon(registration: DaemonRegistration): Promise<DaemonWithToken> {
  return await callApi(newDaemonSchema, '/v1/daemons', { method: 'POST', body: registration });
}

export async function rotateDaemon(id: string): Promise<DaemonWithToken> {
  return await callApi(newDaemonSchema, `${daemonPath(id)}/rotate`, { method: 'POST' });
}

export async function switchDaemon(id: string, enabled: boolean): Promise<void> {
  await callApi(z.unknown(), daemonPath(id), { method: 'PATCH', body: { enabled } });
}

export async function removeDaemon(id: string): Promise<void> {
  await callApi(z.unknown(), daemonPath(id), { method: 'DELETE' });
}
