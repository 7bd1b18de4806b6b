import type { Ledger } from '../ledger.ts';
import { LOOKUP_NAMES, lookupNames } from '../read/lookups.ts';
import { matchTexts } from './match-texts.ts';
import { factsFit, readFacts } from './read-facts.ts';
import { hasTextFilter, type TaskFilter } from './task-filter.ts';

/** Properties that states alone have. */
const BY_STATE = ['code', 'worker', 'release', 'status'] as const;

/** Those of the tasks that may fit the filter, in their order: by the index first, then by their states, by their texts last. */
export async function narrowIds(ledger: Ledger, tenant: string, ids: readonly string[], filter: TaskFilter): Promise<string[]> {
  const listed = await withoutSkipped(ledger, tenant, await keepListed(ledger, tenant, ids, filter), filter);
  const fitting = await keepByState(ledger, tenant, listed, filter);
  return hasTextFilter(filter) ? await matchTexts(ledger, tenant, fitting, filter) : fitting;
}

/** Keeps what the index lists under every property that is given. Inputs, which may be long, are not read for it. */
async function keepListed(ledger: Ledger, tenant: string, ids: readonly string[], filter: TaskFilter): Promise<string[]> {
  let kept = [...ids];
  for (const name of LOOKUP_NAMES.filter((each) => filter[each] !== undefined)) {
    const columns = await Promise.all(lookupNames(name, filter[name] ?? '').map((lookup) => areListed(ledger, tenant, kept, lookup)));
    kept = kept.filter((_, position) => columns.some((column) => column[position]));
  }
  return kept;
}

async function areListed({ redis, keys }: Ledger, tenant: string, ids: readonly string[], lookup: string): Promise<boolean[]> {
  if (ids.length === 0) return [];
  const scores = await redis.zmscore(keys.tenant(tenant).index, ...ids.map((id) => `${lookup}/${id}`));
  return scores.map((score) => score !== null);
}

/** Leaves out skipped occurrences where the filter does. */
async function withoutSkipped(ledger: Ledger, tenant: string, ids: readonly string[], filter: TaskFilter): Promise<string[]> {
  if (filter.status !== undefined || filter.skipped !== false) return [...ids];
  const areSkipped = await areListed(ledger, tenant, ids, 'status=skipped');
  const areRuns = await areListed(ledger, tenant, areSkipped.includes(true) ? ids : [], 'source=schedule');
  return ids.filter((_, position) => !areSkipped[position] || !areRuns[position]);
}

async function keepByState(ledger: Ledger, tenant: string, ids: readonly string[], filter: TaskFilter): Promise<string[]> {
  if (BY_STATE.every((name) => filter[name] === undefined)) return [...ids];
  const facts = await readFacts(ledger, tenant, ids, { withAgent: false });
  return ids.filter((_, position) => {
    const known = facts[position];
    // A list reports a task that cannot be read.
    return known === 'unreadable' || (known && factsFit(known, filter));
  });
}
