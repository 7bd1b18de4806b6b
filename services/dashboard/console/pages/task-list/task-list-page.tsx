import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState, type ReactElement } from 'react';
import { useAgentNames } from '../../api/call-api.ts';
import { useMay } from '../../api/person.ts';
import { readTaskFacets, readTaskList, type ListedTask, type TaskFacets, type TaskListPart } from '../../api/task-list.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { useLiveRefresh, usePollInterval } from '../../live/use-live.ts';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { FirstSteps } from '../../parts/first-steps/first-steps.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { countText } from '../../parts/numbers.tsx';
import { DataTable, type DataTableProps } from '../../parts/table/data-table.tsx';
import { useSelection } from '../../parts/table/use-selection.ts';
import { durationText } from '../../parts/time.tsx';
import { taskPath } from '../../routing/paths.ts';
import { useFilters, type Filters } from '../../routing/use-filters.ts';
import { NewTaskButton } from '../../parts/new-task/new-task.tsx';
import { SavedViews } from './saved-views.tsx';
import { SelectionActions, useRowKeys } from './selection-actions.tsx';
import { TASK_COLUMNS } from './task-columns.tsx';
import { TASK_FILTERS, taskFields } from './task-filters.ts';

const KINDS = ['task.*'];
/** Facets count more than a page shows, so they follow more slowly. */
const FACETS_MS = 30_000;
/** Further pages are read again one after the other, so a long list does not follow events. */
const MAX_LIVE_PAGES = 3;

/** All tasks: search, filters, what each did, and actions on many. */
export function Page(): ReactElement {
  const filters = useFilters(TASK_FILTERS);
  const [showsAll, setShowsAll] = useState(false);
  const agents = useAgentNames();
  const facets = useFacets(filters.search);
  return (
    <PageFrame
      title="Tasks"
      note={facets === undefined ? null : totalText(facets)}
      actions={
        <>
          <SavedViews filters={filters} />
          <NewTaskButton />
        </>
      }
    >
      <FilterBar filters={filters} fields={taskFields({ facets, agents, showsAll, values: filters.values })} />
      <TaskTable
        filters={filters}
        total={facets}
        moreFilters={
          <Button size="compact-xs" variant="subtle" color="gray" aria-pressed={showsAll} onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? 'Fewer filters' : 'More filters'}
          </Button>
        }
      />
    </PageFrame>
  );
}

function totalText({ total, isLowerBound }: TaskFacets): string {
  return `${countText(total)}${isLowerBound ? '+' : ''} ${total === 1 ? 'task' : 'tasks'}`;
}

function useFacets(search: string): TaskFacets | undefined {
  return useLiveQuery({
    queryKey: ['task-facets', search],
    queryFn: ({ signal }) => readTaskFacets(search, signal),
    kinds: [],
    everyMs: FACETS_MS,
  }).data;
}

interface TaskTableProps {
  filters: Filters<typeof TASK_FILTERS>;
  total: TaskFacets | undefined;
  moreFilters: ReactElement;
}

function TaskTable(props: TaskTableProps): ReactElement {
  const { search, count } = props.filters;
  const query = useTaskPages(search);
  const { data } = query;
  const rows = useMemo(() => rowsOf(data?.pages ?? []), [data]);
  const searched = searchedText(data?.pages ?? []);
  const isNew = count === 0 && rows.length === 0 && !query.hasNextPage;
  const more = {
    hasMore: query.hasNextPage,
    isLoading: query.isFetchingNextPage,
    load: () => void query.fetchNextPage(),
    ...(searched === null ? {} : { text: `${searched} Search further` }),
  };
  return (
    <QueryView query={query} title="The tasks could not be read">
      {() =>
        isNew ? <FirstSteps /> : <TaskRows {...props} rows={rows} more={more} whenEmpty={searched ?? 'No task fits these filters.'} />
      }
    </QueryView>
  );
}

type TaskRowsProps = TaskTableProps & Pick<DataTableProps<ListedTask>, 'rows' | 'more' | 'whenEmpty'>;

function TaskRows({ filters, total, moreFilters, ...table }: TaskRowsProps): ReactElement {
  const selection = useSelection();
  const keys = useRowKeys();
  const may = useMay('submit');
  return (
    <DataTable<ListedTask>
      {...table}
      name="tasks"
      label="Tasks"
      of={filters.search}
      rowId={({ id }) => id}
      columns={TASK_COLUMNS}
      href={({ id }) => taskPath({ id, tenant: null })}
      tone={({ status }) => (status === 'permanently_failed' ? 'bad' : status === 'failed' || status === 'timeout' ? 'warn' : null)}
      keys={keys}
      {...(may ? { selection } : {})}
      toolbar={
        <>
          <SelectionActions selection={selection} filters={filters} total={total} />
          {moreFilters}
        </>
      }
    />
  );
}

function useTaskPages(search: string) {
  const queryKey = ['tasks', 'list', search];
  const everyMs = usePollInterval();
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readTaskList(search, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > MAX_LIVE_PAGES ? false : everyMs),
    placeholderData: (before) => before,
  });
  useLiveRefresh(queryKey, (query.data?.pages.length ?? 0) > MAX_LIVE_PAGES ? [] : KINDS);
  return query;
}

/** A task may be in two pages when others came between the reads. */
function rowsOf(pages: readonly TaskListPart[]): ListedTask[] {
  return [...new Map(pages.flatMap(({ items }) => items).map((task) => [task.id, task])).values()];
}

/** How far a search has looked that no index answers; null when one did. */
function searchedText(pages: readonly TaskListPart[]): string | null {
  const last = pages.at(-1)?.search;
  if (!last) return null;
  const scanned = pages.reduce((sum, { search }) => sum + (search?.scanned ?? 0), 0);
  const back = last.back ? `, accepted in the last ${durationText(Date.now() - Date.parse(last.back))}` : '';
  return `Searched ${countText(scanned)} tasks${back}.`;
}
