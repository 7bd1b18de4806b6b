import type { Settings } from '../config/index.ts';
import type { Intake } from '../queue/index.ts';
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

export function openScheduleParts(parts: ProcessParts): ScheduleParts {
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
    store: new ScheduleStore({ redis, keys, settings, log }),
    now: () => redisNow(redis),
  };
}
