import { z } from 'zod';
import type { RegistryPorts } from './worker-registry.ts';

/** A machine of the fleet, and what the fleet ran, at one moment. */
const snapshotSchema = z.object({
  /** By Redis's clock, ms since the epoch. */
  at: z.number(),
  /** The machine that the figures of CPU, memory and load are of. */
  host: z.string(),
  /** Of all cores since its process took the snapshot before; 0 to 100. */
  cpuPercent: z.number(),
  /** Memory in use and in all, MiB. */
  memoryMb: z.number(),
  totalMemoryMb: z.number(),
  /** Processes that ran or waited for a core, over one minute. */
  load: z.number(),
  /** Workers that are not dead, and hubs: API processes and others that serve daemons. */
  activeWorkers: z.int(),
  activeHubs: z.int().default(0),
  /** Attempts that run. */
  running: z.int(),
  /** Lanes that running tasks hold. */
  lanesHeld: z.int(),
  /** Of these, the lanes of sessions. */
  sessions: z.int(),
});

export type Snapshot = z.infer<typeof snapshotSchema>;

/** Adds a snapshot; those beyond `fleet.maxSnapshots` go. */
export async function addSnapshot({ redis, keys, settings }: RegistryPorts, snapshot: Snapshot): Promise<void> {
  const { snapshots } = keys.fleet;
  await redis
    .multi()
    .lpush(snapshots, JSON.stringify(snapshot))
    .ltrim(snapshots, 0, settings.fleet.maxSnapshots - 1)
    .exec();
}

/** The kept snapshots, newest first. What this version cannot read is left out. */
export async function readSnapshots({ redis, keys, settings }: RegistryPorts): Promise<Snapshot[]> {
  const stored = await redis.lrange(keys.fleet.snapshots, 0, settings.fleet.maxSnapshots - 1);
  return stored.flatMap((text) => readSnapshot(text) ?? []);
}

function readSnapshot(text: string): Snapshot | null {
  try {
    return snapshotSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
