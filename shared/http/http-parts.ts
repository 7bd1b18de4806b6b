import type { Environment, Settings } from '../config/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import type { Tenant } from '../tenants/index.ts';

/** What serving requests needs of a process's parts. */
export interface HttpParts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly settings: Settings; readonly env: Pick<Environment, 'MUSTER_PUBLIC_URL'> };
  readonly tenants: { get(id: string): Tenant | null; find(name: string): Tenant | null };
}
