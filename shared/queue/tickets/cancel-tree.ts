import pMap from 'p-map';
import {
  type CancelAnswer,
  cancelSubTask,
  cancelTask,
  closeCancel,
  type Ledger,
  type OpenCancel,
  parentLookup,
  readLookup,
  readState,
  readStates,
} from '../../ledger/index.ts';
import type { TaskState } from '../../tasks/index.ts';

interface StateOfTask {
  id: string;
  state: TaskState;
}

export interface CancelTreeAnswer {
  /** What became of the task itself. */
  answer: CancelAnswer;
  /** Tasks below it that were stopped or are stopping. */
  subTasks: number;
}

const PAGE = 200;
/** Tasks that are cancelled at once: otherwise each takes the time of a round trip. */
const TOGETHER = 32;

/**
 * Cancels a task and, from the top down, every task it delegated: a stopped task delegates no more, so that none joins the tree behind this.
 * A task that had ended before stays as it is, with the tasks that it delegated. When this process dies, a worker continues.
 */
export async function cancelTree(ledger: Ledger, tenant: string, id: string, reason: string): Promise<CancelTreeAnswer> {
  const state = await readState(ledger, tenant, id);
  if (!state) return { answer: { kind: 'unknown', open: null }, subTasks: 0 };
  const answer = await cancelTask(ledger, { tenant, id, lane: state.lane ?? null }, reason);
  count(ledger, tenant, state, answer);
  return { answer, subTasks: answer.open === null ? 0 : await continueCancel(ledger, answer.open) };
}

/**
 * Cancels all that is below the task of an open cancel, until `mayContinue` says no: the rest stays open. Several processes may do so at once.
 * Returns how many tasks were stopped or are stopping.
 */
export async function continueCancel(ledger: Ledger, cancel: OpenCancel, mayContinue = (): boolean => true): Promise<number> {
  const open = [cancel];
  let subTasks = 0;
  // An array is iterated with what is added meanwhile.
  for (const each of open) {
    if (!mayContinue()) break;
    for await (const page of children(ledger, each)) {
      const answers = await pMap(page, async (child) => await cancelChild(ledger, each, child), { concurrency: TOGETHER });
      subTasks += answers.filter(({ kind }) => kind === 'cancelled' || kind === 'stopping').length;
      open.push(...answers.flatMap((answer) => answer.open ?? []));
    }
    await closeCancel(ledger, each);
  }
  return subTasks;
}

async function cancelChild(ledger: Ledger, { tenant, reason }: OpenCancel, { id, state }: StateOfTask): Promise<CancelAnswer> {
  const answer = await cancelSubTask(ledger, { tenant, id, lane: state.lane ?? null }, reason);
  count(ledger, tenant, state, answer);
  return answer;
}

function count(ledger: Ledger, tenant: string, before: TaskState, answer: CancelAnswer): void {
  if (answer.kind === 'cancelled') ledger.counts.taskEnded(tenant, before, 'cancelled');
}

async function* children(ledger: Ledger, { tenant, id: parent }: OpenCancel): AsyncGenerator<StateOfTask[]> {
  const lookup = parentLookup(ledger, tenant, parent);
  let before: string | null = null;
  let ids: string[];
  do {
    ids = await readLookup(ledger, lookup, { low: '', before, max: PAGE });
    const states = await readStates(ledger, tenant, ids);
    yield ids.flatMap((id, position) => withState(id, states[position]));
    before = ids.at(-1) ?? null;
  } while (ids.length === PAGE);
}

function withState(id: string, state: TaskState | null | undefined): StateOfTask[] {
  return state ? [{ id, state }] : [];
}
