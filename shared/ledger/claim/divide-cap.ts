import type { Ledger } from '../ledger.ts';
import { capOfShard, fleetCap } from './fleet-cap.ts';

/** What a shard has of the fleet's cap, and what it could use. */
interface ShardUse {
  shard: number;
  max: number;
  reserved: number;
  running: number;
  /** Attempts that run and tasks that wait for a slot; and the same of critical ones. */
  demand: number;
  critical: number;
}

/** Between two divisions, ms: what a shard needs follows within this time. */
const DIVIDE_MS = 1000;

/**
 * Divides the fleet's cap among the shards, in whole numbers whose sum is at most the cap, by what each could use. A share is kept with its
 * shard, whose claims read it: a cut holds from the next claim on, and only then another shard rises into what it leaves. Does nothing with
 * one shard, and where another process has just divided.
 */
export async function divideCap(ledger: Ledger): Promise<void> {
  const { redis, keys } = ledger;
  if (keys.shards === 1) return;
  // Workers tick at the same pace, and a tick may come a little early.
  if ((await redis.set(keys.fleet.capDivision, '1', 'PX', Math.floor(DIVIDE_MS / 2), 'NX')) === null) return;
  const { max, reserved } = fleetCap(ledger);
  const before = await readUses(ledger);
  const wanted = divide(
    before.map(({ demand }) => demand),
    max,
  );
  const wantedReserved = divide(
    before.map(({ critical }) => critical),
    reserved,
  );
  await Promise.all(before.map((use, at) => writeShare(ledger, use.shard, Math.min(use.max, wanted[at] ?? 0), wantedReserved[at] ?? 0)));
  // What runs above a cut share still counts.
  const now = await readUses(ledger);
  let room = max - now.reduce((sum, use) => sum + Math.max(use.max, use.running), 0);
  for (const [at, use] of now.entries()) {
    const rise = Math.min(Math.max(0, (wanted[at] ?? 0) - Math.max(use.max, use.running)), Math.max(0, room));
    if (rise === 0) continue;
    room -= rise;
    await writeShare(ledger, use.shard, Math.max(use.max, use.running) + rise, use.reserved);
  }
}

/** Whole shares of a number by demand: everybody gets the same until that is enough for it, and what is left is spread. */
export function divide(demands: readonly number[], total: number): number[] {
  const shares = demands.map(() => 0);
  let left = total;
  const give = (places: readonly number[]): void => {
    for (const at of places) {
      if (left === 0) return;
      shares[at] = (shares[at] ?? 0) + 1;
      left -= 1;
    }
  };
  const all = [...demands.keys()];
  const needy = (): number[] => all.filter((at) => (shares[at] ?? 0) < (demands[at] ?? 0));
  for (let places = needy(); left > 0 && places.length > 0; places = needy()) {
    const each = Math.floor(left / places.length);
    if (each === 0) give(places);
    else left -= raise(shares, places, demands, each);
  }
  const rest = Math.floor(left / Math.max(1, all.length));
  for (const at of all) shares[at] = (shares[at] ?? 0) + rest;
  left -= rest * all.length;
  give(all);
  return shares;
}

/** Raises these shares by so much each, up to what is needed. Returns by how much in all. */
function raise(shares: number[], places: readonly number[], demands: readonly number[], by: number): number {
  let raised = 0;
  for (const at of places) {
    const more = Math.min(by, (demands[at] ?? 0) - (shares[at] ?? 0));
    shares[at] = (shares[at] ?? 0) + more;
    raised += more;
  }
  return raised;
}

async function readUses(ledger: Ledger): Promise<ShardUse[]> {
  const { redis, keys } = ledger;
  const initial = capOfShard(ledger);
  return await Promise.all(
    Array.from({ length: keys.shards }, async (_, shard) => {
      const { leases, ready, cap } = keys.shard(shard);
      const [text, running, waiting, runningCritical, waitingCritical] = await Promise.all([
        redis.get(cap),
        redis.zcard(leases),
        redis.zcard(ready),
        redis.scard(`${leases}:critical`),
        redis.zlexcount(ready, '[critical/', '(critical/\u00ff'),
      ]);
      const [max = initial.max, reserved = initial.reserved] = text === null ? [] : text.split('/').map(Number);
      return { shard, max, reserved, running, demand: running + waiting, critical: runningCritical + waitingCritical };
    }),
  );
}

async function writeShare({ redis, keys }: Ledger, shard: number, max: number, reserved: number): Promise<void> {
  await redis.set(keys.shard(shard).cap, `${max}/${Math.min(reserved, max)}`);
}
