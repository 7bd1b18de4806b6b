import type { Ledger } from '../ledger.ts';
import { capOfShard, countAttempts, fleetCap } from './fleet-cap.ts';

/** A part of the fleet's cap, and what is asked of it: for critical attempts, or for all others and what critical ones need besides. */
interface Part {
  share: number;
  running: number;
  /** Attempts that run and tasks that wait for a slot. */
  demand: number;
}

interface ShardUse {
  shard: number;
  critical: Part;
  others: Part;
}

/** Between two divisions, ms: what a shard needs follows within this time. */
const DIVIDE_MS = 1000;

/**
 * Divides the fleet's cap among the shards, in whole numbers whose sum is at most the cap, by what each could use. A share is kept with its
 * shard, whose claims read it: a cut holds from the next claim on, and only then another shard rises into what it leaves. What is reserved for
 * critical work is divided by itself. Does nothing with one shard, and where another process has just divided.
 */
export async function divideCap(ledger: Ledger): Promise<void> {
  const { redis, keys } = ledger;
  if (keys.shards === 1) return;
  // Workers tick at the same pace, and a tick may come a little early.
  if ((await redis.set(keys.fleet.capDivision, '1', 'PX', Math.floor(DIVIDE_MS / 2), 'NX')) === null) return;
  const { max, reserved } = fleetCap(ledger);
  const before = await readUses(ledger);
  const critical = divide(
    before.map((use) => use.critical.demand),
    reserved,
  );
  const others = divide(
    before.map((use, at) => use.others.demand + Math.max(0, use.critical.demand - (critical[at] ?? 0))),
    max - reserved,
  );
  await Promise.all(
    before.map((use, at) => writeShare(ledger, use.shard, least(use.others, others[at]), least(use.critical, critical[at]))),
  );
  // What runs above a cut share still counts.
  const now = await readUses(ledger);
  const raised = {
    others: raiseTo(
      others,
      now.map((use) => use.others),
      max - reserved,
    ),
    critical: raiseTo(
      critical,
      now.map((use) => use.critical),
      reserved,
    ),
  };
  let room = max - sumOf(now.map((use) => Math.max(use.others.share + use.critical.share, use.others.running + use.critical.running)));
  for (const [at, use] of now.entries()) {
    const byCritical = Math.min(room, (raised.critical[at] ?? 0) - use.critical.share);
    const byOthers = Math.min(room - byCritical, (raised.others[at] ?? 0) - use.others.share);
    if (byCritical + byOthers <= 0) continue;
    room -= byCritical + byOthers;
    await writeShare(ledger, use.shard, use.others.share + byOthers, use.critical.share + byCritical);
  }
}

function least({ share }: Part, wanted = 0): number {
  return Math.min(share, wanted);
}

/** Shares that rise to what is wanted, as far as the others leave room under a total. */
function raiseTo(wanted: readonly number[], parts: readonly Part[], total: number): number[] {
  let room = Math.max(0, total - sumOf(parts.map(({ share, running }) => Math.max(share, running))));
  return parts.map(({ share }, at) => {
    const rise = Math.min(room, Math.max(0, (wanted[at] ?? 0) - share));
    room -= rise;
    return share + rise;
  });
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
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
      const [text, running, waiting, waitingCritical] = await Promise.all([
        redis.get(cap),
        countAttempts(redis, leases),
        redis.zcard(ready),
        redis.zlexcount(ready, '[critical/', '(critical/\u00ff'),
      ]);
      const [max = initial.max, reserved = initial.reserved] = text === null ? [] : text.split('/').map(Number);
      const others = running.all - running.critical;
      return {
        shard,
        critical: { share: reserved, running: running.critical, demand: running.critical + waitingCritical },
        others: { share: max - reserved, running: others, demand: others + waiting - waitingCritical },
      };
    }),
  );
}

async function writeShare({ redis, keys }: Ledger, shard: number, others: number, critical: number): Promise<void> {
  await redis.set(keys.shard(shard).cap, `${others + critical}/${critical}`);
}
