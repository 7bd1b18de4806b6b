import { Button } from '@mantine/core';
import type { ReactElement } from 'react';
import { isTerminal, TASK_STATUSES } from '#shared/tasks/transitions.ts';
import { useMay } from '../../api/person.ts';
import type { TaskAction } from '../../api/records.ts';
import { TASK_CALLS, type ListedTask, type TaskFacets } from '../../api/task-list.ts';
import { BulkTaskActions } from '../../parts/actions/bulk-task-actions.tsx';
import { notify } from '../../parts/actions/notices.tsx';
import { useAction } from '../../parts/actions/use-action.ts';
import { countText } from '../../parts/numbers.tsx';
import type { RowKey } from '../../parts/table/column.ts';
import type { Selection } from '../../parts/table/use-selection.ts';
import type { Filters } from '../../routing/use-filters.ts';
import { actionFilter, type TASK_FILTERS } from './task-filters.ts';

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
  const label = total === undefined || total.total === 0 ? 'all' : `all ${countText(total.total)}${total.isLowerBound ? '+' : ''}`;
  return (
    <BulkTaskActions
      size="compact-xs"
      actions={actionsOf(filters.values.status)}
      target={{ filter: actionFilter(filters.values) }}
      label={label}
    />
  );
}

/** What can apply to tasks of these statuses. */
function actionsOf(statuses: readonly string[]): readonly TaskAction[] {
  if (statuses.length === 0) return ACTIONS;
  const known = TASK_STATUSES.filter((status) => statuses.includes(status));
  const hasEnded = known.some(isTerminal);
  const isOpen = known.some((status) => !isTerminal(status));
  const canRetry = known.some((status) => status === 'permanently_failed' || status === 'failed' || status === 'timeout');
  return ACTIONS.filter((action) => (action === 'retry' ? canRetry : action === 'cancel' ? isOpen : hasEnded));
}

const REFRESH = [['tasks']];

/** `r` and `c` for the chosen row, where the key may and the status allows it. */
export function useRowKeys(): readonly RowKey<ListedTask>[] {
  const may = useMay('submit');
  const act = useAction();
  if (!may) return [];
  const retry = async ({ id, status }: ListedTask): Promise<void> => {
    if (status !== 'permanently_failed' && status !== 'failed' && status !== 'timeout')
      return notify({ text: 'Only a failed task can be retried' });
    await act({ run: () => TASK_CALLS.retry(id), done: 'Task retried', refresh: REFRESH });
    return undefined;
  };
  const cancel = async ({ id, status, input }: ListedTask): Promise<void> => {
    if (isTerminal(status)) return notify({ text: 'The task has ended' });
    await act({
      run: () => TASK_CALLS.cancel(id),
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
