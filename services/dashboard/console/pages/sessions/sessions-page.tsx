import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { answerOf, api, queryOf } from '../../api/api.ts';
import { useFollowedPages } from '../../live/use-followed-pages.ts';
import { useLiveRefresh, usePollInterval } from '../../live/use-live.ts';
import { FilterBar } from '../../parts/filters/filter-bar.tsx';
import { Icon } from '../../parts/icon.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import { navigate } from '../../routing/navigation.tsx';
import { sessionPath } from '../../routing/paths.ts';
import { useFilters } from '../../routing/use-filters.ts';
import { ORIGINS } from './origin-text.ts';
import { SESSION_COLUMNS } from './session-columns.tsx';

const FILTERS = { q: 'text', origin: 'text', active: 'flag' } as const;
const FIELDS = [
  { name: 'q', kind: 'search', label: 'Search id or sender' },
  { name: 'origin', kind: 'pick', label: 'From', choices: ORIGINS },
  { name: 'active', kind: 'flag', label: 'Runs or waits' },
] as const;
const POLL_MS = 5000;
/** Rows for which further pages are read by themselves: the newest tasks may have no session. */
const WANTED_ROWS = 20;
const MAX_FOLLOWED_PAGES = 100;
/** A list of more pages does not follow events. */
const MAX_LIVE_PAGES = 3;

const PAGE = 50;

/** The conversations of a tenant; the conversation with the newest message comes first. */
export function Page(): ReactElement {
  const filters = useFilters(FILTERS);
  const queryKey = ['sessions', 'pages', filters.search];
  const everyMs = usePollInterval(POLL_MS);
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        api.GET('/v1/sessions', {
          params: { query: queryOf<'listSessions'>(filters.search, { sort: 'activity', limit: PAGE, cursor: pageParam ?? undefined }) },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > MAX_LIVE_PAGES ? false : everyMs),
  });
  const loaded = query.data?.pages ?? [];
  const rows = loaded.reduce((sum, { items }) => sum + items.length, 0);
  useLiveRefresh(queryKey, loaded.length > MAX_LIVE_PAGES ? [] : ['task.*']);
  useFollowedPages(query, rows < WANTED_ROWS && loaded.length < MAX_FOLLOWED_PAGES);
  return (
    <PageFrame
      title="Sessions"
      actions={
        <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => navigate('/chat')}>
          New chat
        </Button>
      }
    >
      <FilterBar filters={filters} fields={FIELDS} />
      <QueryView query={query} title="The sessions could not be read">
        {({ pages }) => (
          <DataTable
            name="sessions"
            label="Sessions"
            of={filters.search}
            rows={pages.flatMap(({ items }) => items)}
            rowId={({ id }) => id}
            columns={SESSION_COLUMNS}
            href={({ id }) => sessionPath(id)}
            tone={({ lastTask }) => (lastTask?.status === 'permanently_failed' ? 'bad' : null)}
            whenEmpty={filters.count > 0 ? 'No session fits.' : 'No session yet. A message or a task with a session begins one.'}
            more={{
              hasMore: query.hasNextPage,
              isLoading: query.isFetchingNextPage,
              load: () => void query.fetchNextPage(),
              text: 'Older',
            }}
          />
        )}
      </QueryView>
    </PageFrame>
  );
}
