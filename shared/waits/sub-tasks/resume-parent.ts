import {
  acknowledgeEnded,
  answerRuns,
  type Delegation,
  type EndedTask,
  type Ledger,
  listEnded,
  readDelegation,
  readEntry,
  readHeads,
  readState,
  readStatesOrErrors,
  type Transition,
} from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import { isRedisUnavailable, redisNow } from '../../redis/index.ts';
import type { TaskBody, TaskState, TaskStatus } from '../../tasks/index.ts';
import type { SubTaskEnd } from './sub-tasks.ts';

/** A task whose run may wait for sub-tasks. */
export interface ParentName {
  tenant: string;
  id: string;
}

/** Resumes a run with the ends of its sub-tasks, if it waits for these and all have ended. */
export async function resumeParent(ledger: Ledger, { tenant, id }: ParentName): Promise<void> {
  const seq = (await readState(ledger, tenant, id))?.suspended?.entry;
  if (seq === undefined) return;
  const delegation = await readDelegation(ledger, { tenant, id, seq });
  const ends = delegation && (await readEnds(ledger, tenant, delegation));
  if (!ends) return;
  const entry = await readEntry(ledger, { tenant, id }, seq);
  if (entry?.status !== 'waiting') return;
  const { wait: _wait, ...kept } = entry;
  const endedAt = await redisNow(ledger.redis);
  const [answer] = await answerRuns(ledger, tenant, [
    { id, entry: { ...kept, status: 'completed', endedAt, value: JSON.stringify(ends) } },
  ]);
  if (answer?.kind === 'failed') throw new Error(`task ${id} could not be resumed: ${answer.why}`);
}

/** Sub-tasks read together. */
const TOGETHER = 100;

/** How sub-tasks ended, in their order; null while one has not. The last ones start last, so they are asked first. */
async function readEnds(ledger: Ledger, tenant: string, { ids, refused }: Delegation): Promise<SubTaskEnd[] | null> {
  const ends: SubTaskEnd[] = [];
  for (let to = ids.length; to > 0; to -= TOGETHER) {
    const some = ids.slice(Math.max(0, to - TOGETHER), to);
    const states = await readStatesOrErrors(ledger, tenant, some);
    const known = some.map((id, place) => endOf(id, states[place] ?? null, refused[id]));
    if (!known.every((end) => end !== null)) return null;
    ends.unshift(...known);
  }
  return ends;
}

/** Of ends without a failure. */
const END_CODES = { cancelled: 'CANCELLED', skipped: 'SKIPPED', stale: 'DEADLINE_PASSED', permanently_failed: 'AGENT_ERROR' } as const;

function endOf(id: string, state: TaskState | Error | null, refusal: SubTaskEnd['error'] | undefined): SubTaskEnd | null {
  if (state instanceof Error) throw state;
  if (state === null)
    return { id, status: 'refused', error: refusal ?? { code: 'task.not-found', message: 'Its record is no longer kept' } };
  const { status } = state;
  if (status === 'completed') return { id, status, error: null };
  return isUnanswered(status) ? { id, status, error: errorOf(state, status) } : null;
}

type Unanswered = keyof typeof END_CODES;

function isUnanswered(status: TaskStatus): status is Unanswered {
  return Object.hasOwn(END_CODES, status);
}

function errorOf({ error, outcome }: TaskState, status: Unanswered): SubTaskEnd['error'] {
  return { code: error?.code ?? END_CODES[status], message: error?.message ?? outcome?.reason ?? `It is ${status}` };
}

/** Does the same for the parent of a task that has just been settled here. */
export async function resumeParentOf(
  ledger: Ledger,
  body: Pick<TaskBody, 'id' | 'tenant' | 'parentTaskId'>,
  { ended }: Pick<Transition, 'ended'>,
): Promise<void> {
  const { tenant, parentTaskId: id } = body;
  const end = ended?.subscribers?.find((subscriber) => subscriber.startsWith('parent/'));
  if (id === null || end === undefined) return;
  await resumeParent(ledger, { tenant, id });
  await acknowledgeEnded(ledger, ledger.keys.shardOf(tenant), [`${end}/${tenant}/${body.id}`]);
}

/** Ends read in one batch, and batches of one round. */
const BATCH = 500;
const BATCHES = 20;

/**
 * Resumes runs of one shard by the ends of their sub-tasks. An end stays in the ledger until its parent was looked at, so that a process that does
 * this may die at any moment.
 */
export async function followSubTasks({ ledger, log }: { ledger: Ledger; log: Log }, shard: number): Promise<void> {
  for (let count = 0; count < BATCHES; count += 1) {
    const ended = await listEnded(ledger, shard, 'parent', BATCH);
    const byTenant = Map.groupBy(ended, ({ tenant }) => tenant);
    const seen = await Promise.all([...byTenant].map(async ([tenant, ends]) => await followTenant({ ledger, log }, tenant, ends)));
    await acknowledgeEnded(ledger, shard, seen.flat());
    if (ended.length < BATCH) return;
  }
}

/** Returns the members whose parents were looked at. */
async function followTenant({ ledger, log }: { ledger: Ledger; log: Log }, tenant: string, ends: readonly EndedTask[]): Promise<string[]> {
  const heads = await readHeads(
    ledger,
    tenant,
    ends.map(({ task }) => task),
  );
  const byParent = Map.groupBy(ends, ({ task }) => heads.get(task)?.parentTaskId ?? null);
  const seen: string[] = [];
  for (const [id, own] of byParent) {
    try {
      if (id !== null) await resumeParent(ledger, { tenant, id });
      seen.push(...own.map(({ member }) => member));
    } catch (error) {
      if (isRedisUnavailable(error)) throw error;
      log.error({ err: error, task: id, tenant }, 'a run could not be resumed by the ends of its sub-tasks');
    }
  }
  return seen;
}
