import { scriptJson } from '../../redis/index.ts';
import { foldablePart } from '../../text/index.ts';
import type { Ledger } from '../ledger.ts';
import type { TextFilter } from './task-filter.ts';

/** Tasks that one call may read: Redis answers no one else meanwhile. */
const TOGETHER = 250;
/** Bytes after which a call stops: an output may have a million. */
const MAX_BYTES = 2_000_000;

/** Those of the tasks whose texts may be what the filter looks for, in their order. The caller compares the texts exactly. */
export async function matchTexts(ledger: Ledger, tenant: string, ids: readonly string[], filter: TextFilter): Promise<string[]> {
  const text = foldablePart(filter.q ?? '');
  const parts = (filter.metadata ?? []).flatMap(({ key, value }) => [foldablePart(key), foldablePart(value)]).filter((part) => part !== '');
  if (text === '' && parts.length === 0) return [...ids];
  const { bodies, states, outputs } = ledger.keys.tenant(tenant);
  const found: string[] = [];
  for (let from = 0; from < ids.length;) {
    const args = [MAX_BYTES, text, scriptJson(parts), ...ids.slice(from, from + TOGETHER)];
    const [read, ...matching] = (await ledger.run('match-texts', [bodies, states, outputs], args)) as [number, ...string[]];
    found.push(...matching);
    from += Math.max(1, read);
  }
  return found;
}
