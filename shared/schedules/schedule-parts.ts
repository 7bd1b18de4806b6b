import type { Settings } from '../config/index.ts';
import { type Intake, requestTick } from '../queue/index.ts';
import { type Keys, type RedisClient, redisNow } from '../redis/index.ts';
import type { Tenant } from '../tenants/index.ts';
import { ScheduleStore } from './store/schedule-store.ts';

/** The parts for changing and firing schedules. */
export interface ScheduleParts extends Intake {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly store: ScheduleStore;
  readonly tenants: { get(id: string): Tenant | null; find(name: string): Tenant | null; list(): Tenant[] };
  /** Redis's clock, ms since the epoch, the same for all processes. */
  now(): Promise<number>;
}

type ProcessParts = Intake & Pick<ScheduleParts, 'redis' | 'keys' | 'tenants'> & { config: { settings: Settings } };

type OnNext = (shard: number, dueAt: number) => void;

/** `onNext` is called when a schedule was written that is due before all others of its shard; by default that has the clock tick. */
export function openScheduleParts(parts: ProcessParts, onNext: OnNext = tickFor(parts)): ScheduleParts {
  const { ledger, relay, queues, log, redis, keys, tenants } = parts;
  const { settings } = parts.config;
  return {
    ledger,
    relay,
    queues,
    log,
    findAgent: (tenant, id) => parts.findAgent(tenant, id),
    redis,
    keys,
    tenants,
    settings,
    store: new ScheduleStore({ redis, keys, settings, log, onNext }),
    now: () => redisNow(redis),
  };
}

/** Schedulers find what is overdue without a tick. */
function tickFor({ queues, log }: Pick<ProcessParts, 'queues' | 'log'>): OnNext {
  return (shard) => {
    requestTick(queues, shard).catch((error: unknown) => log.debug({ err: error }, 'the clock was not notified of a schedule'));
  };
}
