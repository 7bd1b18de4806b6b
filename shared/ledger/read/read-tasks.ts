import pMap from 'p-map';
import {
  hasAttempt,
  isTerminal,
  parseTimeline,
  type StoredAttempt,
  type Task,
  type TaskBody,
  type TaskState,
  type TaskStatus,
} from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';
import { readRecords, reasonOf, unreadable, type UnreadableRecord } from '../../redis/index.ts';
import { parseState } from '../codec/state.ts';
import { readState } from './read-states.ts';
import { attemptOf } from '../codec/attempt.ts';
import { withParts } from '../archive/read-archived.ts';
import type { TaskParts } from '../archive/task-parts.ts';
import { parseBody } from '../codec/body.ts';

/** Tasks read together while their lengths are unknown, and at most. */
const FIRST_TOGETHER = 10;
const MAX_TOGETHER = 500;
/** Characters that are read together, about: Redis answers no other caller meanwhile, and an output may have more than a million. */
const TOGETHER_CHARACTERS = 2_000_000;

/**
 * What is fixed of a task that has not ended, without its state, output and attempts; null for a missing one. Of an archived task it is what stays in
 * Redis: no more of its input than the beginning. Errors: `record.unreadable`.
 */
export async function readBody({ redis, keys }: Pick<Ledger, 'redis' | 'keys'>, tenant: string, id: string): Promise<TaskBody | null> {
  const text = await redis.hget(keys.tenant(tenant).bodies, id);
  if (text === null) return null;
  try {
    return parseBody(text);
  } catch (error) {
    throw unreadable(id, error);
  }
}

/** Objects of the archive read at once. */
const CONCURRENCY = 8;

/**
 * The tasks of a tenant by their ids, in their order; null for a missing or unreadable one.
 * Errors: `unavailable.files`, `record.unreadable` of one in the archive.
 */
export async function readTasks(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<(Task | null)[]> {
  const rows = await readTaskRows(ledger, tenant, ids);
  if (rows.every((row) => row?.archived === undefined)) return rows;
  return await pMap(rows, (row) => row && complete(ledger, row), { concurrency: CONCURRENCY });
}

/** The same by what Redis has of them, for lists: of an archived one (`archived`) the beginnings of input and output. */
export async function readTaskRows(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<(Task | null)[]> {
  const tasks: (Task | null)[] = [];
  for await (const batch of readInBatches(ledger, tenant, ids)) tasks.push(...batch.tasks);
  return tasks;
}

/** Some of the requested tasks. */
export interface TaskBatch {
  ids: readonly string[];
  tasks: (Task | null)[];
  /** Those of them that are there and cannot be read. */
  unreadable: UnreadableRecord[];
  /** How much was read for them. */
  characters: number;
}

/** The same bit by bit, as much at once as is soon read. */
export async function* readInBatches(ledger: Ledger, tenant: string, ids: readonly string[]): AsyncGenerator<TaskBatch> {
  let size = FIRST_TOGETHER;
  for (let from = 0; from < ids.length;) {
    const batch = await readBatch(ledger, tenant, ids.slice(from, from + size));
    from += batch.ids.length;
    size = Math.floor((TOGETHER_CHARACTERS * batch.ids.length) / Math.max(1, batch.characters));
    size = Math.min(Math.max(1, size), MAX_TOGETHER);
    yield batch;
  }
}

async function readBatch(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<TaskBatch> {
  const { redis, keys } = ledger;
  const { states, bodies, outputs, results } = keys.tenant(tenant);
  // States first: what a step writes besides is there when its state is. Bodies last: one says when the archive took the rest meanwhile.
  const columns = await Promise.all([states, outputs, results, bodies].map(async (hash) => await redis.hmget(hash, ...ids)));
  const broken: UnreadableRecord[] = [];
  const plain = ids.map((id, position) => {
    try {
      return toTask(columns.map((column) => column[position] ?? null));
    } catch (error) {
      broken.push({ id, reason: reasonOf(error) });
      return null;
    }
  });
  const followed = await readEarlierAttempts(
    ledger,
    tenant,
    plain.flatMap((task) => (task ? [{ id: task.body.id, state: task.state }] : [])),
  );
  const tasks = plain.map((task) => task && Object.assign(task, { attempts: attemptsOf(task.state, followed.get(task.body.id)) }));
  return { ids, tasks, unreadable: broken, characters: columns.flat().reduce((sum, text) => sum + (text?.length ?? 0), 0) };
}

/** One task of a tenant, or null. Errors: `record.unreadable`, and `unavailable.files` where the archive that has it does not answer. */
export async function readTask(ledger: Ledger, tenant: string, id: string): Promise<Task | null> {
  const row = await readTaskRow(ledger, tenant, id);
  return row && (await complete(ledger, row));
}

/** A task with its parts, wherever they are. */
async function complete(ledger: Ledger, row: Task): Promise<Task | null> {
  if (row.archived === undefined) return row;
  const { tenant, id } = row.body;
  let known: Task | null = row;
  return await withParts<Task | null>(
    ledger,
    { tenant, id },
    {
      read: async () => {
        const found = known ?? (await readTaskRow(ledger, tenant, id));
        known = null;
        return found;
      },
      placeOf: (task) => task?.archived,
      complete: (task, parts) => task && addParts(task, parts),
    },
  );
}

function addParts({ archived: _archived, ...task }: Task, { body, output, result }: TaskParts): Task {
  const { first: _first, ...accepted } = parseBody(body);
  const isCompleted = task.state.status === 'completed';
  return {
    ...task,
    body: accepted,
    output: isCompleted ? output : null,
    result: isCompleted && result !== null ? (JSON.parse(result) as unknown) : null,
  };
}

/** One task by what Redis has of it, as lists have it; null for none. Errors: `record.unreadable`. */
export async function readTaskRow(ledger: Ledger, tenant: string, id: string): Promise<Task | null> {
  const { tasks, unreadable: broken } = await readBatch(ledger, tenant, [id]);
  if (broken[0]) throw unreadable(id, broken[0].reason);
  return tasks[0] ?? null;
}

type PlainTask = Omit<Task, 'attempts'>;

function toTask([state, output, result, body]: (string | null)[]): PlainTask | null {
  // One of the two is missing for a task that is being forgotten.
  if (!state || !body) return null;
  const { first, archived, ...accepted } = parseBody(body);
  const task = { body: accepted, state: parseState(state, first), ...(archived !== undefined && { archived }) };
  // A task that ended since its state was read has its answer already.
  if (task.state.status !== 'completed') return { ...task, output: null, result: null };
  return { ...task, output: output ?? null, result: result ? (JSON.parse(result) as unknown) : null };
}

/** The attempts of a task, oldest first, without its input and output; null where there is no such task. */
export async function readAttempts(ledger: Ledger, tenant: string, id: string): Promise<StoredAttempt[] | null> {
  const state = await readState(ledger, tenant, id);
  if (!state) return null;
  const followed = await readEarlierAttempts(ledger, tenant, [{ id, state }]);
  return attemptsOf(state, followed.get(id));
}

/** Attempts that others followed, by token; the current or last one is in the state. */
type EarlierAttempts = ReadonlyMap<number, StoredAttempt>;

interface StateOfTask {
  id: string;
  state: TaskState;
}

async function readEarlierAttempts(ledger: Ledger, tenant: string, tasks: readonly StateOfTask[]): Promise<Map<string, EarlierAttempts>> {
  const wanted = tasks.flatMap(({ id, state }) => tokensOf(state).map((token) => ({ id, token })));
  if (wanted.length === 0) return new Map();
  const fields = wanted.map(({ id, token }) => `${id}:${token}`);
  const stored = await ledger.redis.hmget(ledger.keys.tenant(tenant).attempts, ...fields);
  const followed = new Map<string, Map<number, StoredAttempt>>();
  for (const [position, { id, token }] of wanted.entries()) {
    const json = stored[position];
    const known = followed.get(id) ?? new Map<number, StoredAttempt>();
    followed.set(id, known);
    for (const attempt of readRecords([[id, json ?? 'null']], (text) => JSON.parse(text) as StoredAttempt | null).items) {
      if (attempt) known.set(token, attempt);
    }
  }
  return followed;
}

/** Tokens of attempts that may have a record of their own; a first attempt that runs or completed has none. */
function tokensOf({ token, status }: TaskState): number[] {
  if (token <= 1 && (hasAttempt(status) || status === 'completed')) return [];
  return Array.from({ length: token }, (_, index) => index + 1);
}

function attemptsOf(state: TaskState, followed: EarlierAttempts = new Map()): StoredAttempt[] {
  const mayBeLast = hasAttempt(state.status) || isTerminal(state.status);
  const isLast = mayBeLast && state.token > 0 && !followed.has(state.token);
  return isLast ? [...followed.values(), lastAttempt(state)] : [...followed.values()];
}

const LAST_STATUS: Partial<Record<TaskStatus, StoredAttempt['status']>> = {
  completed: 'success',
  cancelled: 'cancelled',
  permanently_failed: 'failed',
};

function lastAttempt(state: TaskState): StoredAttempt {
  const isTimeout = parseTimeline(state.log).at(-2)?.status === 'timeout';
  return attemptOf(state, isTimeout ? 'timeout' : (LAST_STATUS[state.status] ?? 'running'), state.completedAt);
}
