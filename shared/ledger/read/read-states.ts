import { MusterError } from '../../errors/index.ts';
import { unreadable } from '../../redis/index.ts';
import type { FirstState, TaskState, TaskBody } from '../../tasks/index.ts';
import type { Ledger } from '../ledger.ts';
import { parseState } from '../codec/state.ts';
import { parseBody } from '../codec/body.ts';

/** States that one call to Redis reads; it answers no other caller meanwhile. */
const BATCH = 500;

/**
 * The states of a tenant's tasks by their ids, in their order; null for a missing or unreadable one. Reads neither inputs nor outputs, so it is
 * cheap enough to poll.
 */
export async function readStates(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<(TaskState | null)[]> {
  const found = await readStatesOrErrors(ledger, tenant, ids);
  return found.map((state) => (state instanceof MusterError ? null : state));
}

/** The same with `record.unreadable` in the place of a state that cannot be read, for callers that act on missing tasks. */
export async function readStatesOrErrors(
  ledger: Ledger,
  tenant: string,
  ids: readonly string[],
): Promise<(TaskState | MusterError | null)[]> {
  const { states, bodies } = ledger.keys.tenant(tenant);
  const found: (TaskState | MusterError | null)[] = [];
  for (let from = 0; from < ids.length; from += BATCH) {
    const batch = ids.slice(from, from + BATCH);
    const texts = (await ledger.run('read-states', [states, bodies], batch)) as string[];
    for (const [position, id] of batch.entries()) found.push(toState(id, texts[position * 2] ?? '', texts[position * 2 + 1] ?? ''));
  }
  return found;
}

/** The state of one task, or null. Errors: `record.unreadable`. */
export async function readState(ledger: Ledger, tenant: string, id: string): Promise<TaskState | null> {
  const [state = null] = await readStatesOrErrors(ledger, tenant, [id]);
  if (state instanceof MusterError) throw state;
  return state;
}

/** The same of one task for each of many callers: those of one turn of the event loop are one call to Redis. */
export async function readStateTogether(ledger: Ledger, tenant: string, id: string): Promise<TaskState | null> {
  return await ledger.batches.add<TaskName, TaskState | null>({ ledger, run: readTogether, group: tenant }, { tenant, id });
}

interface TaskName {
  tenant: string;
  id: string;
}

async function readTogether(ledger: Ledger, tasks: readonly TaskName[]): Promise<(TaskState | MusterError | null)[]> {
  const ids = tasks.map(({ id }) => id);
  return await readStatesOrErrors(ledger, tasks[0]?.tenant ?? '', ids);
}

function toState(id: string, text: string, first: string): TaskState | MusterError | null {
  if (text === '') return null;
  try {
    return parseState(text, first === '' ? null : (JSON.parse(first) as FirstState));
  } catch (error) {
    return unreadable(id, error);
  }
}

/** What of a task's body stands before its input. */
export type TaskHead = Pick<
  TaskBody,
  | 'id'
  | 'agent'
  | 'source'
  | 'session'
  | 'scheduleId'
  | 'parentTaskId'
  | 'rootTaskId'
  | 'depth'
  | 'keyId'
  | 'user'
  | 'visitor'
  | 'untrusted'
>;

/** Tasks read together: Redis answers no one else meanwhile. */
const HEADS_TOGETHER = 200;

/** The heads of a tenant's tasks, by id; tasks that are not kept any more are missing. One round trip, however long their inputs are. */
export async function readHeads(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<Map<string, TaskHead>> {
  return await readOpenings(ledger, tenant, ids, 0);
}

/** A head, and how the task's input begins. */
export interface TaskOpening extends TaskHead {
  input: string;
}

/** The same with the first `inputBytes` of each input, as JSON in UTF-8: a text may end before. */
export async function readOpenings(
  ledger: Ledger,
  tenant: string,
  ids: readonly string[],
  inputBytes: number,
): Promise<Map<string, TaskOpening>> {
  const { bodies } = ledger.keys.tenant(tenant);
  const pages = Array.from({ length: Math.ceil(ids.length / HEADS_TOGETHER) }, (_, page) =>
    ids.slice(page * HEADS_TOGETHER, (page + 1) * HEADS_TOGETHER),
  );
  const found = (await Promise.all(
    pages.map(async (page) => await ledger.run('read-heads', [bodies], [inputBytes, ...page])),
  )) as string[][];
  return new Map(
    found.flatMap((texts) => texts.flatMap((head, at) => (at % 2 === 0 && head !== '' ? [toOpening(head, texts[at + 1])] : []))),
  );
}

function toOpening(text: string, input = ''): [string, TaskOpening] {
  const { first, ...head } = parseBody(`${text}}`);
  return [head.id, { ...head, user: first.user ?? null, visitor: first.visitor ?? null, input: cutText(input) }];
}

/** JSON of a text up to its end, or to where it was cut. */
const CHARACTERS = /^"(?:[^"\\\uFFFD]|\\(?:u[\dA-Fa-f]{4}|[^u]))*/;

function cutText(json: string): string {
  const [kept] = CHARACTERS.exec(json) ?? [];
  return kept === undefined ? '' : (JSON.parse(`${kept}"`) as string);
}
