import { MusterError } from '../../errors/index.ts';
import {
  countDescendant,
  cutTree,
  type Ledger,
  type NewTask,
  readHeads,
  readState,
  type TaskHead,
  uncountDescendant,
} from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import type { Task } from '../../tasks/index.ts';

/** What a task has of the one that delegated it. */
export interface Parentage {
  priority: number;
  /** The task at the beginning of the chain of delegations. */
  rootTaskId: string;
  /** Delegations from the root to the new task. */
  depth: number;
}

/** What the parent of a new task passes on to it. Errors: `task.not-found`. */
export async function findParentage(ledger: Ledger, tenant: string, parentTaskId: string): Promise<Parentage> {
  const [state, heads] = await Promise.all([readState(ledger, tenant, parentTaskId), readHeads(ledger, tenant, [parentTaskId])]);
  const head = heads.get(parentTaskId);
  if (!state || !head) throw new MusterError('task.not-found', `There is no parent task ${parentTaskId}`);
  return { priority: state.priority, rootTaskId: head.rootTaskId ?? parentTaskId, depth: (head.depth ?? 0) + 1 };
}

interface TreeParts {
  readonly ledger: Ledger;
  readonly log: Log;
}

/**
 * Counts a delegated task among the descendants of its root. Returns how to take that back when the task is not accepted.
 * Errors: `task.runaway` when the chain is too long or the root has too many descendants, from then on for all of them.
 */
export async function joinTree({ ledger, log }: TreeParts, { body }: NewTask): Promise<() => Promise<void>> {
  const { tenant, rootTaskId: root, depth } = body;
  if (root === null || depth === null) return () => Promise.resolve();
  const { maxDepth, maxDescendants } = ledger.settings.runaways;
  const place = { tenant, root };
  const answer = depth > maxDepth ? ({ kind: 'deep' } as const) : await countDescendant(ledger, place);
  if (answer.kind === 'counted') return () => uncountDescendant(ledger, place);
  if (answer.kind === 'cut') throw runaway(root, answer.reason);
  const why =
    answer.kind === 'deep'
      ? `tasks delegate more than ${maxDepth} times one after another`
      : `one task led to more than ${maxDescendants} others`;
  const reason = `Runaway: ${why}: ${await describeChain(ledger, body)}`;
  if (await cutTree(ledger, place, reason)) log.error({ event: 'task.runaway', task: root, tenant, reason }, 'a runaway was cut');
  throw runaway(root, reason);
}

function runaway(rootTaskId: string, reason: string): MusterError {
  return new MusterError('task.runaway', reason, { details: { rootTaskId } });
}

/** Agents that a chain names at its end. */
const MAX_NAMED = 8;

/** The agents of a chain of delegations, from its root, the last ones at least. */
async function describeChain(ledger: Ledger, { tenant, agent, parentTaskId, rootTaskId, depth }: Task['body']): Promise<string> {
  const agents = [agent];
  let next = parentTaskId;
  while (next !== null && agents.length < MAX_NAMED) {
    const parent: TaskHead | undefined = (await readHeads(ledger, tenant, [next])).get(next);
    if (!parent) break;
    agents.unshift(parent.agent);
    next = parent.parentTaskId;
  }
  const begin = next === null ? '' : '... > ';
  return `${begin}${agents.join(' > ')} (${depth} delegations below task ${rootTaskId})`;
}
