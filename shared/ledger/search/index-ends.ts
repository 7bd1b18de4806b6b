import type { TaskStatus } from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';
import { lookupsByStatus, readLookupAfter } from '../read/lookups.ts';
import { compareEnds, END_STATUSES } from './ended-groups.ts';

/** Where a walk through a tenant's index continues: behind this task, or this entry. */
export interface IndexCursor {
  status: TaskStatus;
  /** Adding what is lacking comes first, for all statuses. */
  step: 'add' | 'remove';
  after: string;
}

/** Tasks of one call: Redis answers no one else meanwhile. */
const TOGETHER = 200;
/** Behind every id. */
const NO_END = '\u00ff';

/** Where to begin; null when a tenant's index has every ended task by its end, and no other. */
export async function startIndexing(ledger: Ledger, tenant: string): Promise<IndexCursor | null> {
  const { lacking, surplus } = await compareEnds(ledger, tenant);
  if (lacking > 0) return { status: END_STATUSES[0] as TaskStatus, step: 'add', after: '' };
  return surplus > 0 ? { status: END_STATUSES[0] as TaskStatus, step: 'remove', after: '' } : null;
}

/** Indexes the next ended tasks of a tenant, or removes entries without a task. Returns where to go on; null at the end. */
export async function indexEnds(ledger: Ledger, tenant: string, cursor: IndexCursor): Promise<IndexCursor | null> {
  const after = cursor.step === 'add' ? await addEnds(ledger, tenant, cursor) : await removeOrphans(ledger, tenant, cursor);
  if (after !== null) return { ...cursor, after };
  const next = END_STATUSES[END_STATUSES.indexOf(cursor.status) + 1];
  if (next !== undefined) return { ...cursor, status: next, after: '' };
  return cursor.step === 'add' ? { status: END_STATUSES[0] as TaskStatus, step: 'remove', after: '' } : null;
}

async function addEnds(ledger: Ledger, tenant: string, { status, after }: IndexCursor): Promise<string | null> {
  const { index, states, bodies, live } = ledger.keys.tenant(tenant);
  const [lookup] = lookupsByStatus({ index, live }, [status]);
  const ids = lookup ? await readLookupAfter(ledger, lookup, after, TOGETHER) : [];
  if (ids.length > 0) await ledger.run('index-ends', [index, states, bodies], [status, ...ids]);
  return ids.length < TOGETHER ? null : (ids.at(-1) ?? null);
}

/** An older release that removes or reopens a task leaves the entry of its end. */
async function removeOrphans({ redis, keys }: Ledger, tenant: string, { status, after }: IndexCursor): Promise<string | null> {
  const { index } = keys.tenant(tenant);
  const prefix = `end=${status}/`;
  const members = await redis.zrangebylex(index, `(${prefix}${after}`, `(${prefix}${NO_END}`, 'LIMIT', 0, TOGETHER);
  if (members.length === 0) return null;
  const scores = await redis.zmscore(index, ...members.map((member) => `status=${status}/${member.slice(member.lastIndexOf('/') + 1)}`));
  const orphans = members.filter((_, position) => scores[position] === null);
  if (orphans.length > 0) await redis.zrem(index, ...orphans);
  return members.length < TOGETHER ? null : (members.at(-1)?.slice(prefix.length) ?? null);
}
