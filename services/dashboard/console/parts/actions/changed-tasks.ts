import type { ActionFilter, ActionRequest } from '#shared/client/openapi.gen.ts';
import { taskPath } from '../../routing/paths.ts';

type TaskAction = ActionRequest['action'];
/** Which tasks an action selects: named ones, or those of a filter. */
export type TaskActionTarget = { readonly ids: string[] } | { readonly filter: ActionFilter };

export interface ChangedTasks {
  readonly text: string;
  readonly href: string;
}

/**
 * The page of the tasks that an action upon many changed. Retried ones have neither the status nor the error any more by which they were
 * selected, and discarded ones are gone, so that the link leads to the tasks of the filter that are left. `filter`: of the list that named
 * tasks were selected in.
 */
export function changedTasks(action: TaskAction, target: TaskActionTarget, filter: Readonly<Record<string, unknown>>): ChangedTasks {
  const [only] = 'ids' in target && target.ids.length === 1 ? target.ids : [];
  if (only !== undefined && action !== 'discard') return { text: 'Show the task', href: taskPath({ id: only, tenant: null }) };
  const selected = 'ids' in target ? filter : target.filter;
  if (action === 'discard') return { text: 'Show what is left', href: listPath(selected) };
  if (action === 'cancel') return { text: 'Show cancelled tasks', href: listPath({ ...selected, status: 'cancelled' }) };
  return { text: 'Show the tasks', href: listPath({ ...selected, status: null, code: null, worker: null, release: null }) };
}

function listPath(filter: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    const text = Array.isArray(value) ? value.join(',') : typeof value === 'string' ? value : '';
    if (text !== '') query.set(name, text);
  }
  return query.size === 0 ? '/tasks' : `/tasks?${query.toString()}`;
}
