import type { Ledger } from '../../ledger/index.ts';

/** Lists a question among those of its tenant. Does nothing when it is. */
export async function listQuestion({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string, id: string): Promise<void> {
  await redis.zadd(keys.tenant(tenant).questions, 0, id);
}
