import type { Environment } from '../config/environment.ts';
import type { Settings } from '../config/settings.ts';
import type { RedisClient } from '../redis/connect-redis.ts';
import type { Keys } from '../redis/keys.ts';
import type { Tenant } from '../tenants/tenant.ts';

/** What serving requests needs of a process's parts. */
export interface HttpParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings; readonly env: Pick<Environment, 'MUSTER_PUBLIC_URL'> };
  readonly tenants: { get(id: string): Tenant | null; find(name: string): Tenant | null };
}
