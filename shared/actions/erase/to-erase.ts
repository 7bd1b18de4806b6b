import type { Ledger } from '../../ledger/index.ts';
import { writeOfTenant } from '../../tenants/index.ts';
import type { Erasure } from './erasure.ts';

/** What an erasure removes: tasks, their files, sessions as a whole, and sessions of which only the person's part goes. */
type Kind = 'task' | 'file' | 'session' | 'with';
type Named = `${Kind}/${string}`;

const PAGE = 200;

/** Writes down what an erasure is to remove. */
export async function addToErase(ledger: Ledger, { tenant, id }: Erasure, named: readonly Named[]): Promise<void> {
  const key = ledger.keys.tenant(tenant).erasing(id);
  for (let from = 0; from < named.length; from += PAGE) {
    await writeOfTenant(ledger, { tenant, key, command: ['SADD', ...named.slice(from, from + PAGE)] });
  }
}

/** What is written down of a kind, in pages, each once. */
export async function* listToErase({ redis, keys }: Ledger, { tenant, id }: Erasure, kind: Kind): AsyncGenerator<string[]> {
  let cursor = '0';
  const prefix = `${kind}/`;
  do {
    const [next, page] = await redis.sscan(keys.tenant(tenant).erasing(id), cursor, 'MATCH', `${prefix}*`, 'COUNT', PAGE);
    cursor = next;
    if (page.length > 0) yield [...new Set(page)].map((name) => name.slice(prefix.length));
  } while (cursor !== '0');
}

/** Which of these tasks an erasure removes. */
export async function areErased({ redis, keys }: Ledger, { tenant, id }: Erasure, tasks: readonly string[]): Promise<boolean[]> {
  if (tasks.length === 0) return [];
  const found = await redis.smismember(keys.tenant(tenant).erasing(id), ...tasks.map((task) => `task/${task}`));
  return found.map((is) => is === 1);
}
