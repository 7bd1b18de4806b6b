import type { TaskBody } from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';
import { readLookup, sessionLookup } from './lookups.ts';
import { readHeads } from './read-states.ts';

/** Tasks of a session read at once. */
const PAGE = 200;
/** A session with more tasks than this counts as untrusted: the search is bounded, and must not overlook what is behind it. */
const MAX_SEARCHED = 20_000;

/**
 * Whether a task may hold words of somebody who may give no orders: its own are, or another task of its session has such words. A session
 * counts as long as one of them is kept, also behind its transcript, because some agents remember a session themselves.
 */
export async function isUntrusted(
  ledger: Ledger,
  { tenant, session, untrusted }: Pick<TaskBody, 'tenant' | 'session' | 'untrusted'>,
): Promise<boolean> {
  if (untrusted || session === null) return untrusted;
  const lookup = sessionLookup(ledger, tenant, session);
  let before: string | null = null;
  for (let searched = 0; searched < MAX_SEARCHED; searched += PAGE) {
    const ids = await readLookup(ledger, lookup, { low: '', before, max: PAGE });
    const heads = await readHeads(ledger, tenant, ids);
    if (heads.values().some((head) => head.untrusted)) return true;
    if (ids.length < PAGE) return false;
    before = ids.at(-1) ?? null;
  }
  return true;
}
