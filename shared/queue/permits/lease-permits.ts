import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { FleetLimits, Settings } from '../../config/index.ts';
import { type Keys, loadScripts, type RedisClient, redisNow, runScript, type Script } from '../../redis/index.ts';

/** Critical work has a share of the fleet's cap that no other work uses. */
export const PERMIT_KINDS = ['critical', 'ordinary'] as const;
export type PermitKind = (typeof PERMIT_KINDS)[number];

/** The kind of permit that a queue's tickets need. */
export function kindOf(queue: string): PermitKind {
  return queue === 'critical' ? 'critical' : 'ordinary';
}

export interface Fleet {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  /** The current limits. */
  fleetLimits(): FleetLimits;
}

/** A worker's report of its permits of one kind, and its wishes. */
export interface PermitCall {
  worker: string;
  /** All that it serves. */
  queues: readonly string[];
  kind: PermitKind;
  /** Permits that it keeps; it returns the others. */
  holds: number;
  /** Permits that it has tickets for. */
  needs: number;
  /** Permits for later tickets, granted only while no worker waits. */
  spare: number;
  /** Of its best ticket, by `rankOf`. */
  rank: string;
  /** How long its permits stand without another call; 0 when the worker ends. */
  leaseMs: number;
  /** Of what it keeps, permits that its attempts use. */
  attempts: number;
  /** How long those stand without it; 0 when they end with it. */
  keepMs: number;
  /** Permits that it takes over for attempts that it has adopted, by the worker that held them. */
  from: Readonly<Record<string, number>>;
}

/**
 * `isForeign`: some of the others serve queues that this worker does not, or do not say what they serve. `moved`: how many of its permits others
 * have taken over since its last call.
 */
export type PermitAnswer = { kind: 'held'; count: number; othersWait: boolean; isForeign: boolean; moved: number } | { kind: 'lost' };

/** A waiter counts until it missed so many of its own polls. */
const STALE_POLLS = 4;

/** Between the rank of a worker's best ticket and the queues that it serves: an older release compares both as a rank. */
const QUEUES_AFTER = '/';

let scripts: ReadonlyMap<string, Script> | undefined;

const replySchema = z.union([z.tuple([z.literal('lost')]), z.tuple([z.literal('held'), z.number(), z.number(), z.number()])]);

/**
 * Reports what a worker holds and requests more, in one script. A repeated call changes nothing more, but that a take-over takes as many again
 * from a worker that has them.
 */
export async function leasePermits(fleet: Fleet, call: PermitCall): Promise<PermitAnswer> {
  scripts ??= loadScripts(fileURLToPath(new URL('../scripts', import.meta.url)));
  const script = scripts.get('lease-permits');
  if (!script) throw new Error('The script lease-permits is missing');
  const { permits, permitHolders, permitWaiters, permitSignal } = fleet.keys.fleet;
  const options = {
    channel: permitSignal,
    cap: fleet.fleetLimits().maxConcurrent,
    reserved: reservedOf(fleet),
    leaseMs: call.leaseMs,
    staleMs: staleMs(fleet.settings),
    keepMs: call.keepMs,
    from: call.from,
  };
  const args = [
    JSON.stringify(options),
    call.worker,
    call.kind,
    call.holds,
    call.needs,
    call.spare,
    `${call.rank}${QUEUES_AFTER}${call.queues.join('+')}`,
    call.attempts,
  ];
  const [kind, count, others, moved] = replySchema.parse(
    await runScript(fleet.redis, script, [permits, permitHolders, permitWaiters], args),
  );
  return kind === 'lost' ? { kind } : { kind, count, othersWait: others > 0, isForeign: others === 2, moved };
}

/** How long a waiter counts without another call, ms. */
function staleMs({ worker }: Settings): number {
  return worker.fleetFullMs * STALE_POLLS;
}

/** Permits reserved for critical work while a worker serves it: at least one, but never the last. */
export function reservedOf({ settings, fleetLimits }: Pick<Fleet, 'settings' | 'fleetLimits'>): number {
  const { criticalShare } = settings.limits;
  const { maxConcurrent } = fleetLimits();
  const share = Math.max(criticalShare > 0 ? 1 : 0, Math.floor(maxConcurrent * criticalShare));
  return Math.min(share, maxConcurrent - 1);
}

export interface FleetRoom {
  /** Whether a worker waits for a permit of this kind. */
  isFull: boolean;
  /** Attempts that run, and how many may. */
  running: number;
  cap: number;
  /** Of these, how many are reserved for critical work. */
  reserved: number;
}

/** How full the fleet is for tickets of a kind. */
export async function readRoom(fleet: Fleet, kind: PermitKind): Promise<FleetRoom> {
  const { redis, keys, settings } = fleet;
  const shards = Array.from({ length: keys.shards }, (_, shard) => keys.shard(shard).leases);
  const [now, waiters, permits, ...leases] = await Promise.all([
    redisNow(redis),
    redis.hgetall(keys.fleet.permitWaiters),
    redis.hkeys(keys.fleet.permits),
    ...shards.map((key) => redis.zcard(key)),
  ]);
  const isWaiting = ([name, value]: [string, string]): boolean =>
    (name.startsWith(`${kind} `) || name.startsWith('critical ')) && Number(value.split(' ')[2]) + staleMs(settings) >= now;
  return {
    isFull: Object.entries(waiters).some(isWaiting),
    running: leases.reduce((sum, count) => sum + count, 0),
    cap: fleet.fleetLimits().maxConcurrent,
    reserved: permits.some((name) => name.startsWith('critical ')) ? reservedOf(fleet) : 0,
  };
}
