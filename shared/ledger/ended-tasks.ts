import type { Subscriber, Task } from '../tasks/index.ts';
import type { Ledger } from './ledger.ts';
import { readRecords, refusalOf, scriptJson } from '../redis/index.ts';
import { removeObjectOf } from './archive/remove-objects.ts';
import { parseKnownState, parseState } from './codec/state.ts';
import { parseBody } from './codec/body.ts';
import { shardKeys } from './context.ts';
import { endLookup, lookupsOf } from './read/lookups.ts';

type EndedSource = Pick<Ledger, 'redis' | 'keys'>;

/** A task that ended, whose end a subscriber outside the ledger has not received yet. */
export interface EndedTask {
  /** Its name in the set, for `acknowledgeEnded`. */
  member: string;
  tenant: string;
  task: string;
  /** Milliseconds since the epoch. */
  endedAt: number;
}

interface EndedQuery {
  kind: Subscriber;
  limit: number;
  /** Only what ended earlier, ms since the epoch. */
  before?: number | undefined;
}

/** The tasks of a shard whose end the subscriber `kind` has to receive, longest ended first; see `listEndedBefore`. */
export async function listEnded(ledger: EndedSource, shard: number, kind: Subscriber, limit: number): Promise<EndedTask[]> {
  return await listEndedBefore(ledger, shard, { kind, limit });
}

/** They stay until `acknowledgeEnded`, so that a process that delivers them may die at any moment. */
export async function listEndedBefore(ledger: EndedSource, shard: number, { kind, limit, before }: EndedQuery): Promise<EndedTask[]> {
  // `0` comes after `/`.
  const end = before === undefined ? `(${kind}0` : `(${kind}/${stampOf(before)}`;
  const members = await ledger.redis.zrangebylex(ledger.keys.shard(shard).ended, `[${kind}/`, end, 'LIMIT', 0, limit);
  return members.map((member) => {
    const [, endedAt = '0', tenant = '', task = ''] = member.split('/');
    return { member, tenant, task, endedAt: Number(endedAt) };
  });
}

/** Drops ends that the subscriber has received. */
export async function acknowledgeEnded(ledger: Ledger, shard: number, members: readonly string[]): Promise<void> {
  if (members.length > 0) await ledger.redis.zrem(ledger.keys.shard(shard).ended, ...members);
}

/** The name of a task's end in the set; ids of tenants and tasks hold no `/`. The digits keep their count for three centuries. */
export function endedMember(kind: Subscriber, endedAt: number, tenant: string, task: string): string {
  return `${kind}/${stampOf(endedAt)}/${tenant}/${task}`;
}

function stampOf(at: number): string {
  return String(Math.floor(at)).padStart(13, '0');
}

interface RemovedTasks {
  count: number;
  /** The requested ids whose task was gone before. */
  gone: string[];
}

/** Whether to remove a task that ended then, ms since the epoch; `position` is its place among the requested ids. */
export type IsOld = (endedAt: number, position: number) => boolean;

/**
 * Removes those of a tenant's ended tasks that are old. Of the others only the state is read, because there may be many, and of none
 * what it answered.
 */
export async function removeOldTasks(ledger: Ledger, tenant: string, ids: readonly string[], isOld: IsOld): Promise<RemovedTasks> {
  const { states, bodies } = ledger.keys.tenant(tenant);
  const texts = await ledger.redis.hmget(states, ...ids);
  const old = ids.flatMap((id, position) => {
    const text = texts[position] ?? null;
    return text !== null && isOld(endOf(id, text), position) ? [{ id, text }] : [];
  });
  const found = old.length === 0 ? [] : await ledger.redis.hmget(bodies, ...old.map(({ id }) => id));
  const removed = await Promise.all(
    old.map(async ({ id, text }, position) => {
      const task = readOld(id, text, found[position]);
      return task !== null && (await removeTask(ledger, task));
    }),
  );
  return { count: removed.filter(Boolean).length, gone: ids.filter((_, position) => texts[position] === null) };
}

/** Null for one that cannot be read, which keeps no other from its end. */
function readOld(id: string, text: string, stored: string | null | undefined): Pick<Task, 'body' | 'state'> | null {
  if (!stored) return null;
  const { items } = readRecords([[id, stored]], () => {
    const { first, ...body } = parseBody(stored);
    return { body, state: parseState(text, first) };
  });
  return items[0] ?? null;
}

/** When a task ended; never, when it has not, or when that cannot be read. */
function endOf(id: string, text: string): number {
  const { items } = readRecords([[id, text]], () => parseKnownState(text).completedAt);
  return items[0] ?? Infinity;
}

/** Removes an ended task and all its lookups, unless it was opened since it was read. Returns whether it did. */
export async function removeTask(ledger: Ledger, task: Pick<Task, 'body' | 'state'>): Promise<boolean> {
  if (task.state.completedAt === undefined) return false;
  try {
    return await tryRemove(ledger, task, '');
  } catch (error) {
    // A Redis without memory takes no note of an object that is to be removed, and has room again when its task is gone: so the object goes first.
    if (refusalOf(error)?.word !== 'OOM') throw error;
    const place = await removeObjectOf(ledger, task.body);
    if (place === null) throw error;
    return await tryRemove(ledger, task, place);
  }
}

async function tryRemove(ledger: Ledger, { body, state }: Pick<Task, 'body' | 'state'>, removedPlace: string): Promise<boolean> {
  const { id, tenant } = body;
  const keys = ledger.keys.tenant(tenant);
  const { slas, archiveDue } = shardKeys(ledger, tenant);
  const members = [...lookupsOf(body), `status=${state.status}`, endLookup(state.status, state)].map((lookup) => `${lookup}/${id}`);
  const own = [keys.states, keys.bodies, keys.outputs, keys.results, keys.attempts, keys.index];
  const removed = await ledger.run(
    'remove-task',
    [...own, keys.output(id), keys.log(id), keys.journal(id), keys.questions, slas, archiveDue],
    [id, scriptJson(members), Number(state.completedAt), `${tenant}/${id}`, tenant, removedPlace],
  );
  return removed === 1;
}
