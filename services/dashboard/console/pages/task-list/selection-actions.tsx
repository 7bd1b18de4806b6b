import { Button } from '@mantine/core';
import type { ReactElement } from 'react';
import { isTerminal, TASK_STATUSES, type TaskStatus } from '#shared/tasks/transitions.ts';
import type { ActionRequest, Task, TaskFacets } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { BulkTaskActions } from '../../parts/actions/bulk-task-actions.tsx';
import { notify } from '../../parts/actions/notices.tsx';
import { useAction } from '../../parts/actions/use-action.ts';
import { countText } from '../../parts/numbers.tsx';
import type { RowKey } from '../../parts/table/column.ts';
import type { Selection } from '../../parts/table/use-selection.ts';
import type { Filters } from '../../routing/use-filters.ts';
import { actionFilter, type TASK_FILTERS } from './task-filters.ts';

type TaskAction = ActionRequest['action'];

const ACTIONS = ['retry', 'cancel', 'discard'] as const;

interface SelectionActionsProps {
  selection: Selection;
  filters: Filters<typeof TASK_FILTERS>;
  total: TaskFacets | undefined;
}

/** Buttons for the selected rows or, without a selection, for all tasks of the filter. */
export function SelectionActions({ selection, filters, total }: SelectionActionsProps): ReactElement | null {
  const { ids } = selection;
  if (ids.size > 0) {
    return (
      <>
        <span>{countText(ids.size)} selected</span>
        <BulkTaskActions
          size="compact-xs"
          actions={ACTIONS}
          target={{ ids: [...ids] }}
          within={actionFilter(filters.values)}
          onStarted={() => selection.change(new Set())}
        />
        <Button size="compact-xs" variant="subtle" color="gray" onClick={() => selection.change(new Set())}>
          None
        </Button>
      </>
    );
  }
  // Without a filter a slip would cancel the work of everybody.
  if (filters.count === 0) return null;
  const target = { filter: actionFilter(filters.values) };
  return (
    <>
      {actionsOf(filters.values.status).map((action) => (
        <BulkTaskActions
          key={action}
          size="compact-xs"
          actions={[action]}
          target={target}
          label={labelOf(action, filters.values.status, total)}
        />
      ))}
    </>
  );
}

/** `all 3`: those of the filter to which the action applies. */
function labelOf(action: TaskAction, statuses: readonly string[], total: TaskFacets | undefined): string {
  const count = countOf(action, statuses, total);
  return total === undefined || count === 0 ? 'all' : `all ${countText(count)}${total.isLowerBound ? '+' : ''}`;
}

/** How many tasks of these statuses an action applies to; of all statuses where none is chosen. */
function countOf(action: TaskAction, statuses: readonly string[], total: TaskFacets | undefined): number {
  const fitting = (total?.status ?? []).filter(
    ({ value }) =>
      (statuses.length === 0 || statuses.includes(value)) && TASK_STATUSES.some((status) => status === value && applies(action, status)),
  );
  return fitting.reduce((sum, { count }) => sum + count, 0);
}

function applies(action: TaskAction, status: TaskStatus): boolean {
  if (action === 'retry') return status === 'permanently_failed' || status === 'failed' || status === 'timeout';
  return isTerminal(status) === (action === 'discard');
}

/** What can apply to tasks of these statuses. Counts are up to half a minute old, so they hide no button. */
function actionsOf(statuses: readonly string[]): readonly TaskAction[] {
  const known = TASK_STATUSES.filter((status) => statuses.length === 0 || statuses.includes(status));
  return ACTIONS.filter((action) => known.some((status) => applies(action, status)));
}

const REFRESH = [['tasks']];

/** `r` and `c` for the chosen row, where the key may and the status allows it. */
export function useRowKeys(): readonly RowKey<Task>[] {
  const may = useMay('submit');
  const act = useAction();
  if (!may) return [];
  const retry = async ({ id, status }: Task): Promise<void> => {
    if (!applies('retry', status)) return notify({ text: 'Only a failed task can be retried' });
    await act({ run: () => answerOf(api.POST('/v1/tasks/{id}/retry', byId(id))), done: 'Task retried', refresh: REFRESH });
    return undefined;
  };
  const cancel = async ({ id, status, input }: Task): Promise<void> => {
    if (isTerminal(status)) return notify({ text: 'The task has ended' });
    await act({
      run: () => answerOf(api.POST('/v1/tasks/{id}/cancel', byId(id))),
      done: 'Task cancelled',
      refresh: REFRESH,
      confirm: { title: 'Cancel this task?', text: input.slice(0, 200), button: 'Cancel the task', danger: true },
    });
    return undefined;
  };
  return [
    { key: 'r', text: 'Retry the row’s task', run: (task) => void retry(task) },
    { key: 'c', text: 'Cancel the row’s task', run: (task) => void cancel(task) },
  ];
}
