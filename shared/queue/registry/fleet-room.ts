import { countAttempts, fleetCap, type Ledger } from '../../ledger/index.ts';

export interface FleetRoom {
  /** Whether the fleet has no room for another attempt of the queue. */
  isFull: boolean;
  /** Attempts that run, and how many may. */
  running: number;
  cap: number;
  /** Of these, how many are reserved for critical work. */
  reserved: number;
}

/** How full the fleet is for tasks of a queue. */
export async function readRoom(ledger: Ledger, queue: string): Promise<FleetRoom> {
  const { redis, keys } = ledger;
  const { max: cap, reserved } = fleetCap(ledger);
  const counts = await Promise.all(Array.from({ length: keys.shards }, (_, shard) => countAttempts(redis, keys.shard(shard).leases)));
  const running = counts.reduce((sum, { all }) => sum + all, 0);
  const critical = counts.reduce((sum, each) => sum + each.critical, 0);
  // What is critical uses its own part first.
  const room = queue === 'critical' ? cap - running : cap - running - Math.max(0, reserved - critical);
  return { isFull: room <= 0, running, cap, reserved };
}
