import { MusterError } from '../../errors/index.ts';
import {
  isUntrusted,
  countDescendant,
  cutTree,
  type Descendant,
  type Ledger,
  type NewTask,
  readHeads,
  readState,
  type TaskHead,
  uncountDescendant,
} from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import type { TaskBody, TaskStatus } from '../../tasks/index.ts';
import { publicTenantId } from '../../tenants/index.ts';
import { REFUSAL_HELPS } from './refusal-helps.ts';
import type { AcceptRequest } from './request.ts';

/** What a task inherits from the task that delegated it. */
export interface Parentage {
  priority: number;
  /** The task at the beginning of the chain of delegations. */
  rootTaskId: string;
  /** Delegations from the root to the new task. */
  depth: number;
  /** The API key of the parent. */
  keyId: string | null;
  /** Whether the parent may hold words of somebody who may give no orders. */
  untrusted: boolean;
}

/** What the parent of a new task passes on to it. Errors: `task.not-found`; `task.wrong-state` when it was stopped. */
export async function findParentage(ledger: Ledger, tenant: string, parentTaskId: string): Promise<Parentage> {
  const [state, heads] = await Promise.all([readState(ledger, tenant, parentTaskId), readHeads(ledger, tenant, [parentTaskId])]);
  const head = heads.get(parentTaskId);
  if (!state || !head) throw new MusterError('task.not-found', `There is no parent task ${parentTaskId}`);
  // The ledger decides; this spares a stopped task's request the count among descendants.
  if (state.status === 'cancelled' || state.cancel) throw parentStopped(parentTaskId, { above: parentTaskId, status: state.status });
  const { rootTaskId, depth, keyId } = head;
  const untrusted = await isUntrusted(ledger, { ...head, tenant });
  return { untrusted, priority: state.priority, rootTaskId: rootTaskId ?? parentTaskId, depth: (depth ?? 0) + 1, keyId };
}

/** The refusal of a task whose parent, or a task above it, was stopped, perhaps without having obeyed yet. */
export function parentStopped(parentTaskId: string | null, { above, status }: { above: string; status: TaskStatus }): MusterError {
  const whose = above === parentTaskId ? '' : ` with task ${above}, which it descends from`;
  return new MusterError('task.wrong-state', `The parent task ${parentTaskId} was stopped${whose}`, { details: { status } });
}

/** What a task keeps of where it descends from. */
export type Descent = Pick<TaskBody, 'rootTaskId' | 'depth' | 'keyId'>;

export function descentOf(request: Pick<AcceptRequest, 'keyId'>, parentage: Parentage | null): Descent {
  const keyId = request.keyId ?? null;
  if (parentage === null) return { rootTaskId: null, depth: null, keyId };
  // Agents delegate with a key of their own, which would take the task out of the budget of its caller's key.
  return { rootTaskId: parentage.rootTaskId, depth: parentage.depth, keyId: parentage.keyId ?? keyId };
}

interface TreeParts {
  readonly ledger: Ledger;
  readonly log: Log;
}

type Delegated = TaskBody & { rootTaskId: string; depth: number };

/** Roots that one request cuts at most, before it is refused. */
const MAX_CUTS = 3;

/**
 * Counts a delegated task among the descendants of its root. Returns how to take that back when the task is not accepted; that never rejects.
 * Errors: `task.runaway` when the chain is too long, or the root has too many descendants or has had some for too long, from then on for all
 * of them; `limit.rate` when the tenant's tasks make too many tasks and no root is to blame.
 */
export async function joinTree(parts: TreeParts, { body, parentWaits }: NewTask): Promise<() => Promise<void>> {
  const { rootTaskId, depth } = body;
  if (rootTaskId === null || depth === null) return () => Promise.resolve();
  const place = { tenant: body.tenant, root: rootTaskId, task: parentWaits ? body.id : undefined };
  await countIn(parts, { ...body, rootTaskId, depth }, place);
  return async () => {
    await uncountDescendant(parts.ledger, place).catch((error: unknown) => {
      parts.log.debug({ err: error, ...place }, 'a task that was not accepted still counts below its root');
    });
  };
}

async function countIn(parts: TreeParts, body: Delegated, place: Descendant): Promise<void> {
  const { ledger } = parts;
  const { tenant, rootTaskId: root, depth } = body;
  const { maxDepth, maxDescendants, maxTreeMs, maxMadePerMinute } = ledger.settings.runaways;
  if (depth > maxDepth) throw await cut(parts, body, `tasks delegate more than ${maxDepth} times one after another`);
  for (let cuts = 0; cuts < MAX_CUTS; cuts += 1) {
    const answer = await countDescendant(ledger, place);
    switch (answer.kind) {
      case 'counted':
        return;
      case 'cut':
        throw runaway(root, answer.reason);
      case 'full':
        throw await cut(parts, body, `one task led to more than ${maxDescendants} others`);
      case 'old':
        throw await cut(parts, body, `one task led to others for more than ${maxTreeMs} ms`);
      case 'busy':
        throw tooFast(tenant, maxMadePerMinute, answer.retryAfterMs);
      case 'fast': {
        const why = `tasks made more than ${maxMadePerMinute} others within a minute, ${answer.made} of them below task ${answer.root}`;
        if (answer.root === root) throw await cut(parts, body, why);
        await cutRoot(parts, { tenant, root: answer.root }, `Runaway: ${why}`);
      }
    }
  }
  throw tooFast(tenant, maxMadePerMinute, RETRY_MS);
}

/** Others were cut for what they made, which leaves room in a moment. */
const RETRY_MS = 1000;

/** Cuts the tree of a task, with its chain in the reason. Returns the error for its request. */
async function cut(parts: TreeParts, body: Delegated, why: string): Promise<MusterError> {
  const { tenant, rootTaskId: root } = body;
  const reason = `Runaway: ${why}: ${await describeChain(parts.ledger, body)}`;
  await cutRoot(parts, { tenant, root }, reason);
  return runaway(root, reason);
}

async function cutRoot({ ledger, log }: TreeParts, place: { tenant: string; root: string }, reason: string): Promise<void> {
  const { tenant, root: task } = place;
  if (await cutTree(ledger, place, reason)) log.error({ event: 'task.runaway', task, tenant, reason }, 'a runaway was cut');
}

function tooFast(tenant: string, max: number, retryAfterMs: number): MusterError {
  const details = { scope: 'delegation', helps: REFUSAL_HELPS.rate };
  return new MusterError('limit.rate', `Tasks of tenant ${publicTenantId(tenant)} made ${max} others within a minute`, {
    details,
    retryAfterMs,
  });
}

function runaway(rootTaskId: string, reason: string): MusterError {
  return new MusterError('task.runaway', reason, { details: { rootTaskId } });
}

/** Agents that a chain names at its end. */
const MAX_NAMED = 8;

/** The agents of a chain of delegations, from its root, the last ones at least. */
export async function describeChain(
  ledger: Ledger,
  { tenant, agent, parentTaskId, rootTaskId, depth }: Pick<Delegated, 'tenant' | 'agent' | 'parentTaskId' | 'rootTaskId' | 'depth'>,
): Promise<string> {
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
