import { type CancelAnswer, cancelTask, type Ledger, parentLookup, readLookup, readState, readStates } from '../../ledger/index.ts';
import { isTerminal, type TaskState } from '../../tasks/index.ts';

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

/**
 * Cancels a task and, from the top down, every task it delegated: a stopped task delegates no more, so that none joins the tree behind this.
 * A task that had ended before stays as it is, with the tasks that it delegated.
 */
export async function cancelTree(ledger: Ledger, tenant: string, id: string, reason: string): Promise<CancelTreeAnswer> {
  const root = await readState(ledger, tenant, id);
  if (!root) return { answer: { kind: 'unknown' }, subTasks: 0 };
  const answer = await cancelOne(ledger, tenant, { id, state: root }, reason);
  if (answer.kind === 'ended' && answer.status !== 'cancelled') return { answer, subTasks: 0 };
  let subTasks = 0;
  for await (const child of descendants(ledger, tenant, id)) {
    if (isTerminal(child.state.status)) continue;
    const { kind } = await cancelOne(ledger, tenant, child, `its parent task was cancelled: ${reason}`);
    if (kind === 'cancelled' || kind === 'stopping') subTasks += 1;
  }
  return { answer, subTasks };
}

async function cancelOne(ledger: Ledger, tenant: string, { id, state }: StateOfTask, reason: string): Promise<CancelAnswer> {
  const answer = await cancelTask(ledger, { tenant, id, lane: state.lane ?? null }, reason);
  if (answer.kind === 'cancelled') ledger.counts.taskEnded(tenant, state, 'cancelled');
  return answer;
}

/** All tasks below a task; a parent comes before its children. */
async function* descendants(ledger: Ledger, tenant: string, root: string): AsyncGenerator<StateOfTask> {
  const seen = new Set([root]);
  // A set is iterated in the order of its additions, also those made meanwhile.
  for (const parent of seen) {
    for await (const child of children(ledger, tenant, parent)) {
      if (seen.has(child.id)) continue;
      seen.add(child.id);
      yield child;
    }
  }
}

async function* children(ledger: Ledger, tenant: string, parent: string): AsyncGenerator<StateOfTask> {
  const lookup = parentLookup(ledger, tenant, parent);
  let before: string | null = null;
  let ids: string[];
  do {
    ids = await readLookup(ledger, lookup, { low: '', before, max: PAGE });
    const states = await readStates(ledger, tenant, ids);
    yield* ids.flatMap((id, position) => withState(id, states[position]));
    before = ids.at(-1) ?? null;
  } while (ids.length === PAGE);
}

function withState(id: string, state: TaskState | null | undefined): StateOfTask[] {
  return state ? [{ id, state }] : [];
}
