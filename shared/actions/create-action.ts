import { createHash } from 'node:crypto';
import { MusterError } from '../errors/index.ts';
import type { Ledger } from '../ledger/index.ts';
import { redisNow } from '../redis/index.ts';
import { canonicalJson, newTaskId } from '../tasks/index.ts';
import { tenantClosed } from '../tenants/index.ts';
import { type Action, type ActionFilter, type ActionName, APPLICABLE, DEFAULT_STATUSES } from './action.ts';
import { ActionStore } from './action-store.ts';
import { readsTexts, scanTasks, type TaskSelection } from './scan-tasks.ts';

export interface ActionRequest {
  tenant: string;
  action: ActionName;
  /** Defaults to `DEFAULT_STATUSES`. */
  filter: Omit<ActionFilter, 'statuses'> & { statuses?: ActionFilter['statuses'] | undefined };
  /** Why, for the records of cancelled tasks. */
  reason: string | null;
  /** Id of the key that requests it. */
  by: string | null;
  /** The caller's key under which it is created once. */
  idempotencyKey?: string | undefined;
}

/** How many tasks fit: exactly, or at least so many. */
interface Matches {
  matched: number;
  isExact: boolean;
}

/** Creates an action, which a worker begins soon. Errors: `request.invalid`, `limit.actions`, `task.idempotency-conflict`, `tenant.disabled`. */
export async function createAction(ledger: Ledger, request: ActionRequest): Promise<{ action: Action; isNew: boolean }> {
  const { tenant, idempotencyKey } = request;
  const store = new ActionStore(ledger);
  const now = await redisNow(ledger.redis);
  const filter = filterOf(ledger, request);
  const matches = await countMatches(ledger, tenant, { ...filter, endedUntil: now });
  const action = newAction(request, { filter, matches, now });
  const creation = idempotencyKey === undefined ? null : { key: idempotencyKey, digest: digestOf(request) };
  const answer = await store.create(action, creation);
  switch (answer.kind) {
    case 'created':
      return { action, isNew: true };
    case 'known':
      return { action: (await store.find(tenant, answer.id))?.action ?? action, isNew: false };
    case 'conflict':
      throw new MusterError('task.idempotency-conflict', 'This idempotency key was used for another action', {
        details: { id: answer.id },
      });
    case 'full':
      throw new MusterError('limit.actions', `A tenant has at most ${answer.count} actions under way`, {
        details: { count: answer.count },
      });
    case 'closed':
      throw tenantClosed(tenant, answer.state);
  }
}

/** Counts the tasks that an action would be applied to now; reads `actions.maxRead` tasks at most. Errors: `request.invalid`. */
export async function countTasks(ledger: Ledger, request: ActionRequest): Promise<Matches> {
  return await countMatches(ledger, request.tenant, filterOf(ledger, request));
}

async function countMatches(ledger: Ledger, tenant: string, selection: TaskSelection): Promise<Matches> {
  let matched = 0;
  let read = 0;
  for await (const batch of scanTasks(ledger, tenant, selection)) {
    matched += batch.tasks.length;
    read += batch.read;
    if (batch.next === null) break;
    if (read >= maxReadFor(ledger, selection)) return { matched, isExact: false };
  }
  return { matched, isExact: true };
}

/** Texts may be long: fewer of them are read for a count. */
const MAX_TEXTS_READ = 2000;

function maxReadFor({ settings }: Ledger, selection: TaskSelection): number {
  const { maxRead } = settings.actions;
  return readsTexts(selection) ? Math.min(maxRead, MAX_TEXTS_READ) : maxRead;
}

/** Errors: `request.invalid` for statuses that the action does not apply to, and for more tasks than an action may name. */
function filterOf({ settings }: Ledger, { action, filter: { statuses, ...rest } }: ActionRequest): ActionFilter {
  assertNamed(rest.ids, settings.actions.maxIds);
  const wrong = statuses?.find((status) => !APPLICABLE[action].includes(status));
  // Tasks that somebody names are wanted in each status that the action applies to.
  const defaults = rest.ids === undefined ? DEFAULT_STATUSES : APPLICABLE;
  if (wrong === undefined) return { ...rest, statuses: [...(statuses ?? defaults[action])] };
  throw new MusterError('request.invalid', `filter.status: "${action}" applies to ${APPLICABLE[action].join(', ')}, not to ${wrong}`, {
    details: { status: wrong, allowed: APPLICABLE[action] },
  });
}

/** No task at all would be read as every task by what forgets to ask. */
function assertNamed(ids: readonly string[] | undefined, max: number): void {
  if (ids === undefined || (ids.length > 0 && ids.length <= max)) return;
  throw new MusterError('request.invalid', `ids: an action names 1 to ${max} tasks`, { details: { ids: ids.length, max } });
}

interface NewAction {
  filter: ActionFilter;
  matches: Matches;
  now: number;
}

function newAction({ tenant, action, reason, by }: ActionRequest, { filter, matches, now }: NewAction): Action {
  return {
    ...matches,
    // Tasks that are accepted from now on have larger ids, and are left out.
    id: newTaskId(),
    tenant,
    action,
    status: 'pending',
    filter,
    reason,
    by,
    done: 0,
    skipped: 0,
    failed: 0,
    error: null,
    cursor: null,
    step: null,
    faults: 0,
    createdAt: now,
    startedAt: null,
    updatedAt: now,
    completedAt: null,
  };
}

function digestOf({ action, filter, reason }: ActionRequest): string {
  return createHash('sha256').update(canonicalJson({ action, filter, reason })).digest('base64url');
}
