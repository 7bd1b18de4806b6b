import type { Ledger } from './ledger.ts';

/** Tenants looked at with one round trip. */
const PAGE = 200;

/**
 * How many lookups each of these tenants has: of tasks that have not ended (`live`), or of all that are kept (`index`); those that have
 * none are left out. A look costs next to nothing, so that thousands of quiet tenants do not cost a chore what busy ones do.
 */
export async function tenantsWithTasks(
  { redis, keys }: Ledger,
  tenants: readonly { id: string }[],
  lookups: 'live' | 'index',
): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let from = 0; from < tenants.length; from += PAGE) {
    const page = tenants.slice(from, from + PAGE);
    const counts = await Promise.all(page.map(({ id }) => redis.zcard(keys.tenant(id)[lookups])));
    for (const [position, { id }] of page.entries()) {
      const count = counts[position] ?? 0;
      if (count > 0) found.set(id, count);
    }
  }
  return found;
}
