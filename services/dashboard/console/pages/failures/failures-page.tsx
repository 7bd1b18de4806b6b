import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, type ReactElement } from 'react';
import { useAgentNames } from '../../api/call-api.ts';
import { type FailureGroup } from '../../api/administration-records.ts';
import { readFailures } from '../../api/failures.ts';
import { useLiveRefresh, usePollInterval } from '../../live/use-live.ts';
import { BulkTaskActions } from '../../parts/actions/bulk-task-actions.tsx';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { EmptyNote, QueryView } from '../../parts/layout/query-view.tsx';
import { Stat, StatRow } from '../../parts/layout/stat.tsx';
import { Count } from '../../parts/numbers.tsx';
import { Age } from '../../parts/time.tsx';
import { useFilters } from '../../routing/use-filters.ts';
import { FailureCard } from './failure-card.tsx';
import { FailureOverview } from './failure-overview.tsx';
import { groupKey, mergeGroups } from './failure-groups.ts';
import classes from './failures.module.css';

const FILTERS = { agent: 'text', code: 'text', schedule: 'text', since: 'text', until: 'text' } as const;

/** What failed for good, in groups of one error and agent. */
export function Page(): ReactElement {
  const filters = useFilters(FILTERS);
  const { search, values } = filters;
  const agents = useAgentNames();
  const queryKey = useMemo(() => ['failures', search], [search]);
  useLiveRefresh(queryKey, ['task.permanently_failed', 'action.*']);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readFailures(search, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: usePollInterval(),
  });
  const selected = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
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
      <FilterBar
        filters={filters}
        fields={[
          { name: 'agent', kind: 'pick', label: 'Agent', choices: agents.map((value) => ({ value, label: value })) },
          { name: 'code', kind: 'text', label: 'Error code' },
          { name: 'schedule', kind: 'text', label: 'Schedule' },
          { name: 'since', kind: 'time', label: 'Accepted since' },
          { name: 'until', kind: 'time', label: 'Accepted before' },
        ]}
      />
      <QueryView query={query} title="The failures could not be read">
        {({ pages }) => (
          <>
            <FailureOverview pages={pages} search={search} readAt={query.dataUpdatedAt} />
            <Groups groups={mergeGroups(pages.map(({ items }) => items))} selected={selected} isComplete={!query.hasNextPage} />
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

interface GroupsProps {
  groups: readonly FailureGroup[];
  /** The filters that are set, which hold for the actions of each group too. */
  selected: Readonly<Record<string, string | null>>;
  isComplete: boolean;
}

function Groups({ groups, selected, isComplete }: GroupsProps): ReactElement {
  if (groups.length === 0) {
    const isFiltered = Object.keys(selected).length > 0;
    return (
      <EmptyNote title="Nothing failed" text={isFiltered ? 'No task of this filter failed for good.' : 'No kept task failed for good.'} />
    );
  }
  const total = groups.reduce((sum, { count }) => sum + count, 0);
  const lastAt =
    groups
      .map((group) => group.lastAt)
      .toSorted()
      .at(-1) ?? '';
  return (
    <>
      <StatRow>
        <Stat
          label="Failed tasks"
          value={
            <>
              {isComplete ? '' : 'at least '}
              <Count value={total} />
            </>
          }
          tone="bad"
        />
        <Stat label="Errors" value={<Count value={new Set(groups.map(({ code }) => code)).size} />} />
        <Stat label="Agents" value={<Count value={new Set(groups.map(({ agent }) => agent)).size} />} />
        <Stat label="Last failure" value={<Age at={lastAt} of="last failure" />} />
      </StatRow>
      <ul className={classes['groups']} aria-label="Failures by error and agent">
        {groups.map((group) => (
          <FailureCard
            key={groupKey(group)}
            group={group}
            selected={selected}
            largest={groups[0]?.count ?? 1}
            startsOpen={groups.length === 1}
          />
        ))}
      </ul>
    </>
  );
}
