import { z } from 'zod';
import type { Ledger } from '../../ledger/index.ts';
import { readRecords } from '../../redis/index.ts';
import type { Erasure } from './erasure.ts';
import { areErased } from './to-erase.ts';

const PAGE = 500;

interface StreamEntry {
  readonly id: string;
  /** The tasks that it is about. */
  readonly tasks: readonly string[];
}

/** Removes from the tenant's events, which notifications are made of, those about its tasks. Returns how many. */
export async function eraseEvents(ledger: Ledger, erasure: Erasure): Promise<number> {
  return await eraseEntries(ledger, erasure, ledger.keys.tenant(erasure.tenant).events, (fields) => {
    const at = fields.indexOf('tasks');
    return at === -1 ? [] : (fields[at + 1] ?? '').split(',');
  });
}

const deliverySchema = z.object({ taskId: z.string().nullish() });

/** Removes from the hooks' newest deliveries, which have the bodies as they came, those that made its tasks. Returns how many. */
export async function eraseHookDeliveries(ledger: Ledger, erasure: Erasure): Promise<number> {
  const own = ledger.keys.tenant(erasure.tenant);
  let removed = 0;
  for (const hook of await ledger.redis.hkeys(own.hooks)) {
    removed += await eraseEntries(ledger, erasure, own.hookDeliveries(hook, 'accepted'), ([, text = '']) => {
      const read = readRecords([['', text]], () => deliverySchema.parse(JSON.parse(text)));
      return read.items.flatMap(({ taskId }) => taskId ?? []);
    });
  }
  return removed;
}

async function eraseEntries(ledger: Ledger, erasure: Erasure, key: string, tasksOf: (fields: string[]) => string[]): Promise<number> {
  let removed = 0;
  for (let from = '-'; ;) {
    const page = await ledger.redis.xrange(key, from, '+', 'COUNT', PAGE);
    const entries = page.map(([id, fields]): StreamEntry => ({ id, tasks: tasksOf(fields) }));
    const own = await ofErased(ledger, erasure, entries);
    if (own.length > 0) removed += await ledger.redis.xdel(key, ...own);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return removed;
    from = `(${last[0]}`;
  }
}

/** Entries that name any of its tasks: of several tasks that one names, the others have their own records. */
async function ofErased(ledger: Ledger, erasure: Erasure, entries: readonly StreamEntry[]): Promise<string[]> {
  const tasks = [...new Set(entries.flatMap((entry) => entry.tasks))];
  const are = await areErased(ledger, erasure, tasks);
  const erased = new Set(tasks.filter((_, position) => are[position]));
  return entries.filter((entry) => entry.tasks.some((task) => erased.has(task))).map(({ id }) => id);
}
