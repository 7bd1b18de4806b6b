import { Button } from '@mantine/core';
import { useMemo, useState, type ReactElement } from 'react';
import type { Task, TaskFacets } from '#shared/client/openapi.gen.ts';
import { answerOf, api, queryOf } from '../../api/api.ts';
import { useAgentNames } from '../../api/known-agents.ts';
import { useMay } from '../../api/person.ts';
import { AGENTS_KEY } from '../../api/query-keys.ts';
import { WINDOWS } from '../agents/figures-window.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { FirstSteps } from '../../parts/first-steps/first-steps.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { countText } from '../../parts/numbers.tsx';
import { DataTable, type DataTableProps } from '../../parts/table/data-table.tsx';
import { useSelection } from '../../parts/table/use-selection.ts';
import { taskPath } from '../../routing/paths.ts';
import { useFilters, type Filters } from '../../routing/use-filters.ts';
import { NewTaskButton } from '../../parts/new-task/new-task.tsx';
import { SavedViews } from './saved-views.tsx';
import { SelectionActions, useRowKeys } from './selection-actions.tsx';
import { runsLong, TASK_COLUMNS, type UsualMs, UsualTimes } from './task-columns.tsx';
import { TASK_FILTERS, taskFields } from './task-filters.ts';
import { rowsOf, searchedText, useTaskPages, type TaskPages } from './use-task-pages.ts';

/** Facets count more than a page shows, so they follow more slowly. */
const FACETS_MS = 30_000;

/** All tasks: search, filters, what each did, and actions on many. */
export function Page(): ReactElement {
  const filters = useFilters(TASK_FILTERS);
  const [showsAll, setShowsAll] = useState(false);
  const agents = useAgentNames();
  const facets = useFacets(filters.search);
  const list = useTaskPages(filters.search);
  return (
    <PageFrame
      title="Tasks"
      note={totalText(list, facets)}
      actions={
        <>
          <SavedViews filters={filters} />
          <NewTaskButton />
        </>
      }
    >
      <FilterBar filters={filters} fields={taskFields({ facets, agents, showsAll, values: filters.values })}>
        <Button size="xs" variant="subtle" color="gray" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
          {showsAll ? 'Fewer filters' : 'More filters'}
        </Button>
      </FilterBar>
      <TaskTable filters={filters} list={list} total={facets} />
    </PageFrame>
  );
}

/** How many tasks fit: all rows where no page is left, else what the facets counted, which stop at the bound of one search. */
function totalText({ query, isSearching }: TaskPages, facets: TaskFacets | undefined): string | null {
  const pages = query.isPlaceholderData ? undefined : query.data?.pages;
  const shown = pages === undefined ? 0 : rowsOf(pages).length;
  if (pages !== undefined && !query.hasNextPage) return tasksText(shown);
  if (facets === undefined) return null;
  const total = Math.max(facets.total, shown);
  if (facets.isLowerBound && total === 0) return isSearching ? 'Searching' : 'No task found so far';
  return tasksText(total, facets.isLowerBound);
}

function tasksText(count: number, isLowerBound = false): string {
  return `${countText(count)}${isLowerBound ? '+' : ''} ${count === 1 ? 'task' : 'tasks'}`;
}

function useFacets(search: string): TaskFacets | undefined {
  return useLiveQuery({
    queryKey: ['task-facets', search],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/tasks/facets', { params: { query: queryOf<'countTaskFacets'>(search) }, signal })),
    kinds: [],
    everyMs: FACETS_MS,
  }).data;
}

/** How long half of the attempts of each agent did not exceed in the last 24 hours. */
function useUsualTimes(): UsualMs {
  const { data } = useLiveQuery({
    queryKey: [...AGENTS_KEY, 'metrics', WINDOWS[0]],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/metrics/agents', { params: { query: { hours: Number(WINDOWS[0]) } }, signal })),
    kinds: [],
    everyMs: FACETS_MS,
  });
  return useMemo(() => new Map(data?.items.map(({ agent, runP50Ms }) => [agent, runP50Ms])), [data]);
}

interface TaskTableProps {
  filters: Filters<typeof TASK_FILTERS>;
  list: TaskPages;
  total: TaskFacets | undefined;
}

function TaskTable(props: TaskTableProps): ReactElement {
  const { query, isSearching } = props.list;
  const { data } = query;
  const rows = useMemo(() => rowsOf(data?.pages ?? []), [data]);
  const searched = searchedText(data?.pages ?? []);
  const isNew = props.filters.count === 0 && rows.length === 0 && !query.hasNextPage;
  const more = {
    hasMore: query.hasNextPage,
    isLoading: query.isFetchingNextPage || isSearching,
    load: () => void query.fetchNextPage(),
    ...(searched === null ? {} : { text: 'Search further' }),
  };
  return (
    <QueryView query={query} title="The tasks could not be read">
      {() => (isNew ? <FirstSteps /> : <TaskRows {...props} rows={rows} more={more} searched={searched} />)}
    </QueryView>
  );
}

interface TaskRowsProps extends TaskTableProps, Pick<DataTableProps<Task>, 'rows' | 'more'> {
  /** How far a search has read. */
  searched: string | null;
}

function TaskRows({ filters, list, total, searched, ...table }: TaskRowsProps): ReactElement {
  const selection = useSelection(list.of);
  const keys = useRowKeys();
  const may = useMay('submit');
  const usual = useUsualTimes();
  return (
    <UsualTimes value={usual}>
      <DataTable<Task>
        {...table}
        whenEmpty={emptyText(list, searched)}
        name="tasks"
        label="Tasks"
        of={list.of}
        rowId={({ id }) => id}
        columns={TASK_COLUMNS}
        href={({ id }) => taskPath({ id, tenant: null })}
        tone={(task) => toneOf(task, usual)}
        keys={keys}
        {...(may ? { selection } : {})}
        toolbar={
          <>
            <SelectionActions selection={selection} filters={filters} total={total} />
            {searched === null || table.rows.length === 0 ? null : <span className="faint">{searched}</span>}
          </>
        }
      />
    </UsualTimes>
  );
}

function toneOf(task: Task, usual: UsualMs): 'bad' | 'warn' | null {
  const { status } = task;
  if (status === 'permanently_failed') return 'bad';
  return status === 'failed' || status === 'timeout' || runsLong(task, usual, Date.now()) ? 'warn' : null;
}

/** What a table without rows says: that none fits, that the search goes on, or that it ended at its bound. */
function emptyText({ query, isSearching }: TaskPages, searched: string | null): string {
  if (searched === null) return 'No task fits these filters.';
  if (isSearching) return searched;
  return `${query.hasNextPage ? 'No task found so far.' : 'No task fits these filters.'} ${searched}`;
}
