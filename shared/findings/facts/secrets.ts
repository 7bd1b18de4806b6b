import type { RegistryPorts } from '../../queue/index.ts';
import { countSecrets, DEFAULT_TENANT } from '../../tenants/index.ts';
import type { RecordScope } from './unreadable-records.ts';

/** How many secrets of hooks, callbacks and agents are in clear, and how many are sealed with which key, by its id. */
export interface StoredSecrets {
  clear: number;
  sealed: ReadonlyMap<string, number>;
}

export async function readSecrets({ redis, keys }: RegistryPorts, { maxRead, maxTenants }: RecordScope): Promise<StoredSecrets> {
  const others = (await redis.hkeys(keys.fleet.tenants)).filter((id) => id !== DEFAULT_TENANT);
  const sealed = new Map<string, number>();
  let clear = 0;
  for (const tenant of [DEFAULT_TENANT, ...others].slice(0, maxTenants)) {
    for (const [id, count] of await countSecrets({ redis, keys }, tenant, maxRead)) {
      if (id === null) clear += count;
      else sealed.set(id, (sealed.get(id) ?? 0) + count);
    }
  }
  return { clear, sealed };
}
