import { Button, Skeleton } from '@mantine/core';
import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { useMemo, type ReactElement } from 'react';
import type { FailureList } from '#shared/client/openapi.gen.ts';
import { answerOf, api, queryOf } from '../../api/api.ts';
import { useAgentNames } from '../../api/known-agents.ts';
import { useLiveRefresh, usePollInterval } from '../../live/use-live.ts';
import { BulkTaskActions } from '../../parts/actions/bulk-task-actions.tsx';
import { FilterBar, type FilterField } from '../../parts/filters/filter-bar.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { useFilters } from '../../routing/use-filters.ts';
import { FailureGroups, Grouping } from './failure-list.tsx';
import { FailureOverview } from './failure-overview.tsx';
import { mergeGroups } from './failure-groups.ts';

const FILTERS = { agent: 'text', code: 'text', release: 'text', schedule: 'text', since: 'text', until: 'text' } as const;
const ALL = { ...FILTERS, groupBy: 'text' } as const;
const LIST_PX = 240;
const LIMIT = 200;

/** What failed for good, in groups of one error and agent. */
export function Page(): ReactElement {
  const filters = useFilters(FILTERS);
  const { values } = filters;
  const grouped = useFilters(ALL);
  const { groupBy } = grouped.values;
  const agents = useAgentNames();
  const query = useFailures(filters.search, grouped.search);
  const groups = useMemo(() => mergeGroups((query.data?.pages ?? []).map(({ items }) => items)), [query.data]);
  const selected = useMemo(() => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)), [values]);
  // Without failures there is nothing to retry; an unread page may have some.
  const hasFailures = query.hasNextPage || query.data?.pages.some(({ items }) => items.length > 0) === true;
  return (
    <PageFrame
      title="Failures"
      actions={
        hasFailures ? (
          <BulkTaskActions
            target={{ filter: { status: ['permanently_failed'], ...selected } }}
            actions={['retry', 'discard']}
            label={filters.count === 0 ? 'all' : 'all of the filter'}
          />
        ) : null
      }
    >
      <FilterBar filters={filters} fields={fieldsOf(agents)} />
      <QueryView query={query} title="The failures could not be read">
        {({ pages }) => (
          <>
            <FailureOverview pages={pages} search={filters.search} readAt={query.dataUpdatedAt} />
            <Grouping groupBy={groupBy} onChange={(next) => grouped.change({ groupBy: next })} />
            {query.isPlaceholderData ? (
              <Skeleton height={LIST_PX} radius="md" />
            ) : (
              <FailureGroups groupBy={groupBy} groups={groups} selected={selected} isComplete={!query.hasNextPage} />
            )}
            {query.hasNextPage ? (
              <Button size="xs" variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                Read older tasks
              </Button>
            ) : null}
          </>
        )}
      </QueryView>
    </PageFrame>
  );
}

/** The failures of a filter. Other groups of the same failures stay until theirs are read: the picker of the group stands between them. */
function useFailures(filter: string, search: string): UseInfiniteQueryResult<InfiniteData<FailureList>> {
  const queryKey = useMemo(() => ['failures', filter, search], [filter, search]);
  useLiveRefresh(queryKey, ['task.permanently_failed', 'action.*']);
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        api.GET('/v1/failures', {
          params: { query: queryOf<'listFailures'>(search, { limit: LIMIT, cursor: pageParam ?? undefined }) },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: usePollInterval(),
    placeholderData: (before, former) => (former?.queryKey[1] === filter ? before : undefined),
  });
}

function fieldsOf(agents: readonly string[]): FilterField[] {
  return [
    { name: 'agent', kind: 'pick', label: 'Agent', choices: agents.map((value) => ({ value, label: value })) },
    { name: 'code', kind: 'text', label: 'Error code' },
    { name: 'release', kind: 'text', label: 'Release' },
    { name: 'schedule', kind: 'text', label: 'Schedule' },
    { name: 'since', kind: 'time', label: 'Accepted since' },
    { name: 'until', kind: 'time', label: 'Accepted before' },
  ];
}
