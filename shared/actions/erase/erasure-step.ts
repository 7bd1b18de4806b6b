import pMap from 'p-map';
import type { FileStore } from '../../files/index.ts';
import { type Ledger, parentLookup, readBody, readLookupAfter, readTaskRow, removeTask } from '../../ledger/index.ts';
import { cancelTree } from '../../queue/index.ts';
import { isTerminal, type Task, type TaskBody, TASK_STATUSES } from '../../tasks/index.ts';
import { scanTasks } from '../scan-tasks.ts';
import type { Erasure } from './erasure.ts';
import { eraseRest } from './erase-rest.ts';
import { addToErase, listToErase } from './to-erase.ts';

export interface EraseParts {
  readonly ledger: Ledger;
  readonly files: Pick<FileStore, 'remove' | 'listKeptRuns'>;
}

/** Tasks at once: an erasure takes only a share of Redis. */
const CONCURRENCY = 10;
const CHILDREN_PAGE = 200;
const REASON = 'its data is being erased';

/**
 * Does the next part of an erasure, and returns it as it is then: `done` at the end. What is to be removed is written down before anything is, and
 * each part does nothing the second time, so that another process goes on wherever one died.
 */
export async function eraseNext(parts: EraseParts, erasure: Erasure, mayContinue: () => boolean): Promise<Erasure> {
  switch (erasure.phase) {
    case 'collect':
      return await collect(parts, erasure, mayContinue);
    case 'remove':
      return await removeEnded(parts, erasure);
    case 'rest':
      return { ...erasure, removed: await eraseRest(parts, erasure), phase: 'done' };
    case 'done':
      return erasure;
  }
}

/** Writes down the tasks that were accepted before the erasure, and what they delegated, and stops those that go on. */
async function collect({ ledger }: EraseParts, erasure: Erasure, mayContinue: () => boolean): Promise<Erasure> {
  const { id, tenant, kind, of } = erasure;
  const selection = { statuses: TASK_STATUSES, before: id, ...(kind === 'session' && of !== null ? { session: of } : {}) };
  if (kind === 'session' && of !== null) await addToErase(ledger, erasure, [`session/${of}`]);
  let { cursor } = erasure;
  for await (const { tasks, next } of scanTasks(ledger, tenant, selection, { isOldestFirst: true, cursor })) {
    const found = tasks.map((task) => task.id);
    const ids = kind === 'session' ? found : await ofPerson(ledger, erasure, found);
    await addTasks(ledger, erasure, ids);
    cursor = next;
    if (next === null || !mayContinue()) break;
  }
  return cursor === null ? { ...erasure, phase: 'remove', cursor } : { ...erasure, cursor };
}

async function addTasks(ledger: Ledger, erasure: Erasure, ids: readonly string[]): Promise<void> {
  const open = [...ids];
  // An array is iterated with what is added meanwhile.
  for (const id of open) {
    await addToErase(ledger, erasure, [`task/${id}`]);
    await cancelTree(ledger, erasure.tenant, id, REASON);
    const lookup = parentLookup(ledger, erasure.tenant, id);
    for (let after = '', isLast = false; !isLast;) {
      const page = await readLookupAfter(ledger, lookup, after, CHILDREN_PAGE);
      open.push(...page);
      after = page.at(-1) ?? '';
      isLast = page.length < CHILDREN_PAGE;
    }
  }
}

/** Those that the person wrote, by the id of a surface, a visitor's token or a sign-in. Their sessions are written down too. */
async function ofPerson(ledger: Ledger, erasure: Erasure, ids: readonly string[]): Promise<string[]> {
  const bodies = await pMap(ids, (id) => readBody(ledger, erasure.tenant, id), { concurrency: CONCURRENCY });
  const own = bodies.filter((body): body is TaskBody => body !== null && isBy(body, erasure.of));
  const sessions = own.flatMap(({ session }) => (session === null ? [] : [`with/${session}` as const]));
  await addToErase(ledger, erasure, sessions);
  return own.map(({ id }) => id);
}

function isBy({ user, visitor, keyId }: TaskBody, person: string | null): boolean {
  return person !== null && (user === person || visitor === person || keyId === person);
}

/** Removes those of its tasks that have ended; the others are stopping. */
async function removeEnded(parts: EraseParts, erasure: Erasure): Promise<Erasure> {
  const { ledger } = parts;
  let stopping = 0;
  const remove = async (id: string): Promise<void> => {
    const task = await readTaskRow(ledger, erasure.tenant, id);
    if (task === null) return;
    if (isTerminal(task.state.status) && (await eraseTask(parts, erasure, task))) return;
    stopping += 1;
    // It may have been opened again.
    await cancelTree(ledger, erasure.tenant, id, REASON);
  };
  for await (const ids of listToErase(ledger, erasure, 'task')) await pMap(ids, remove, { concurrency: CONCURRENCY });
  return { ...erasure, stopping, phase: stopping === 0 ? 'rest' : 'remove' };
}

/** Removes an ended task with what it alone has. Its files are written down before: without it nothing leads to them. */
async function eraseTask({ ledger, files }: EraseParts, erasure: Erasure, task: Task): Promise<boolean> {
  const { redis, keys } = ledger;
  const { id, tenant, attachments } = task.body;
  const own = keys.tenant(tenant);
  const [made, kept] = await Promise.all([redis.hvals(own.taskFiles(id)), files.listKeptRuns(tenant, `task/${id}`)]);
  const found = [...made.map(fileIn), ...[...kept.values()].map(({ file }) => file), ...(attachments ?? []).map(({ file }) => file)];
  await addToErase(
    ledger,
    erasure,
    found.flatMap((file) => (file === null ? [] : [`file/${file}` as const])),
  );
  await redis.unlink(own.taskFiles(id), own.keptRuns(`task/${id}`), own.keptOnDaemons(`task/${id}`), own.taskTree(id));
  return await removeTask(ledger, task);
}

function fileIn(text: string): string | null {
  const record: unknown = JSON.parse(text);
  return typeof record === 'object' && record !== null && 'file' in record && typeof record.file === 'string' ? record.file : null;
}
