import { forgetTask } from './forget-task.ts';
import { readRecords } from '../redis/index.ts';
import type { Ledger } from './ledger.ts';
import { parseFullState, parseState } from './parse-state.ts';
import { isShort, parseShort } from './short-state.ts';
import { parseBody } from './stored-body.ts';

export interface Forgotten {
  count: number;
  /** Of those asked for, the ones that were gone before. */
  gone: string[];
}

/** Whether a task is to be removed that ended then, ms since the epoch, and stands at this position of those asked for. */
export type IsOld = (endedAt: number, position: number) => boolean;

/**
 * Removes those of a tenant's ended tasks that are old. Of the others only the state is read, because there may be many, and of none
 * what it answered.
 */
export async function forgetOldTasks(ledger: Ledger, tenant: string, ids: readonly string[], isOld: IsOld): Promise<Forgotten> {
  const { states, bodies } = ledger.keys.tenant(tenant);
  const texts = await ledger.redis.hmget(states, ...ids);
  const old = ids.flatMap((id, position) => {
    const text = texts[position] ?? null;
    return text !== null && isOld(endOf(id, text), position) ? [{ id, text }] : [];
  });
  const found = old.length === 0 ? [] : await ledger.redis.hmget(bodies, ...old.map(({ id }) => id));
  const removed = await Promise.all(
    old.map(async ({ text }, position) => {
      const stored = found[position];
      if (!stored) return false;
      const { first, ...body } = parseBody(stored);
      return await forgetTask(ledger, { body, state: parseState(text, first) });
    }),
  );
  return { count: removed.filter(Boolean).length, gone: ids.filter((_, position) => texts[position] === null) };
}

/** When a task ended; never, when it has not, or when that cannot be read. */
function endOf(id: string, text: string): number {
  const { items } = readRecords([[id, text]], () => (isShort(text) ? parseShort(text).end?.completedAt : parseFullState(text).completedAt));
  return items[0] ?? Infinity;
}
