import { z } from 'zod';

/** A connected daemon, as the hub that holds its connection writes it with each beat. */
export const daemonStateSchema = z.object({
  /** Unique per connection, without spaces. */
  connection: z.string().regex(/^[\w.:-]{1,200}$/),
  /** The hub that holds it. */
  hub: z.string(),
  /** Takes nothing more. */
  isDraining: z.boolean(),
  /** Only tasks of this user reach it; null for tasks of all. */
  user: z.string().nullable(),
  name: z.string(),
  /** A worker of the cluster that has capabilities: it runs tasks of every tenant, but no agents of kind `daemon`. */
  isWorker: z.boolean().default(false),
  /** What it declares and its registration allows. */
  capabilities: z.array(z.string()),
  slots: z.int(),
  /** Null for any agent. */
  agents: z.array(z.string()).nullable(),
  /** Attempts that it runs. */
  running: z.int(),
  /** Of these, the ones whose tasks are CPU-intensive. */
  cpuIntensive: z.int().default(0),
  /** Ids of their tasks, as many as the hub lists. */
  tasks: z.array(z.string()).optional(),
  /** 0 to 1. */
  load: z.number(),
  /** Free memory in MiB, as it reports it; null when it does not. */
  memoryMb: z.number().nullable(),
  /** Whether it has reported load and memory since it connected. */
  hasBeat: z.boolean().default(true),
  version: z.string().nullable(),
  host: z.string().nullable(),
  /** By the hub's clock, ms since the epoch. */
  connectedAt: z.number(),
  /** The last beat, by Redis's clock once it was written, ms since the epoch. */
  beatAt: z.number(),
  /** How long after a beat it counts as online, ms. */
  validMs: z.int().min(1),
});
export type DaemonState = z.infer<typeof daemonStateSchema>;

/**
 * - `online`: it has a free slot
 * - `busy`: it has none
 * - `draining`: it takes nothing more
 * - `offline`: no hub holds a connection of it
 */
export const DAEMON_STATUSES = ['online', 'busy', 'draining', 'offline'] as const;
export type DaemonStatus = (typeof DAEMON_STATUSES)[number];

/** The status by Redis's clock. */
export function statusOf(state: DaemonState | null, now: number): DaemonStatus {
  if (state === null || now - state.beatAt >= state.validMs) return 'offline';
  if (state.isDraining) return 'draining';
  return state.running < state.slots ? 'online' : 'busy';
}
