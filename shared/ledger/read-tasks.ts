import { parseTimeline } from '../tasks/parse-timeline.ts';
import type { StoredAttempt, Task, TaskBody, TaskState } from '../tasks/task.ts';
import type { TaskStatus } from '../tasks/transitions.ts';
import type { Ledger } from './ledger.ts';
import { parseState } from './parse-state.ts';

type TaskRecord = Record<string, string>;

/** The tasks of a tenant by their ids, in their order and in one round trip; null where there is none. */
export async function readTasks(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<(Task | null)[]> {
  if (ids.length === 0) return [];
  const tasks = await readOnce(ledger, tenant, ids);
  // A task that was parked again between the two reads has a body and no state; it has one the next time.
  const missed = ids.filter((_, position) => tasks[position] === 'unsure');
  const again = missed.length === 0 ? [] : await readOnce(ledger, tenant, missed);
  return tasks.map((task, position) => {
    const settled = task === 'unsure' ? again[missed.indexOf(ids[position] ?? '')] : task;
    return settled === 'unsure' || settled === undefined ? null : settled;
  });
}

/** One task of a tenant, or null. */
export async function readTask(ledger: Ledger, tenant: string, id: string): Promise<Task | null> {
  const [task = null] = await readTasks(ledger, tenant, [id]);
  return task;
}

async function readOnce(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<(Task | 'unsure' | null)[]> {
  const keys = ledger.keys.tenant(tenant);
  // Parked first: a claim between the two reads moves the state into the record, which wins.
  const pipeline = ledger.redis.pipeline();
  pipeline.hmget(keys.parked, ...ids);
  for (const id of ids) pipeline.hgetall(keys.task(id));
  const replies = ((await pipeline.exec()) ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  const parked = replies[0] as (string | null)[];
  return ids.map((_, position) => toTask(replies[position + 1] as TaskRecord, parked[position] ?? null));
}

function toTask(record: TaskRecord, parked: string | null): Task | 'unsure' | null {
  const { body, output, result } = record;
  if (body === undefined) return null;
  const state = record['state'] ?? parked;
  if (state === null) return 'unsure';
  const parsed = parseState(state);
  return {
    body: JSON.parse(body) as TaskBody,
    state: parsed,
    attempts: attemptsOf(record, parsed),
    output: output ?? null,
    result: result === undefined ? null : (JSON.parse(result) as unknown),
  };
}

/** Attempts that others followed are stored one by one; the current or last one is in the state. */
function attemptsOf(record: TaskRecord, state: TaskState): StoredAttempt[] {
  const stored = Object.entries(record)
    .filter(([field]) => field.startsWith('attempt:'))
    .toSorted(([a], [b]) => Number(a.slice('attempt:'.length)) - Number(b.slice('attempt:'.length)))
    .map(([, json]) => JSON.parse(json) as StoredAttempt);
  const isLast = state.token > 0 && record[`attempt:${state.token}`] === undefined;
  return isLast ? [...stored, lastAttempt(state)] : stored;
}

const LAST_STATUS: Partial<Record<TaskStatus, StoredAttempt['status']>> = {
  completed: 'success',
  cancelled: 'cancelled',
  permanently_failed: 'failed',
};

function lastAttempt({ status, attempt, worker, startedAt, completedAt, error, log }: TaskState): StoredAttempt {
  const isTimeout = parseTimeline(log).at(-2)?.status === 'timeout';
  return {
    number: attempt,
    worker: worker ?? '',
    startedAt: startedAt ?? 0,
    status: isTimeout ? 'timeout' : (LAST_STATUS[status] ?? 'running'),
    ...(completedAt === undefined ? {} : { endedAt: completedAt }),
    ...(error === undefined || completedAt === undefined ? {} : { error }),
  };
}
