import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Delivery } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId, queryOf } from '../../api/api.ts';
import { DELIVERIES_KEY } from '../../api/query-keys.ts';
import { usePollInterval } from '../../live/use-live.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { FilterBar, type FilterField } from '../../parts/filters/filter-bar.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age, ClockTime } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import { useFilters } from '../../routing/use-filters.ts';
import { FailingEndpoints } from './failing-endpoints.tsx';

const POLL_MS = 3000;
const FILTERS = { status: 'text', kind: 'text', task: 'text' } as const;

const choicesOf = (...values: string[]): { value: string; label: string }[] => values.map((value) => ({ value, label: value }));
const FIELDS: readonly FilterField[] = [
  { name: 'status', kind: 'pick', label: 'Status', choices: choicesOf('pending', 'delivered', 'failed', 'unknown') },
  { name: 'kind', kind: 'pick', label: 'Kind', choices: choicesOf('reply', 'callback', 'question') },
  { name: 'task', kind: 'text', label: 'Task' },
];

const TONES: Readonly<Record<Delivery['status'], Tone>> = { pending: 'busy', delivered: 'good', failed: 'bad', unknown: 'warn' };

const COLUMNS: readonly Column<Delivery>[] = [
  {
    id: 'task',
    title: 'Of task',
    width: 270,
    onNarrow: 'first',
    cell: ({ task }) => <PageLink href={taskPath({ id: task, tenant: null })}>{task}</PageLink>,
  },
  { id: 'to', title: 'To', width: 120, onNarrow: 'line', cell: ({ kind, platform }) => platform ?? kind },
  {
    id: 'status',
    title: 'Status',
    width: 110,
    onNarrow: 'line',
    cell: ({ status }) => <ToneBadge tone={TONES[status]}>{status}</ToneBadge>,
  },
  { id: 'attempts', title: 'Tries', width: 70, align: 'end', cell: ({ attempts }) => attempts },
  { id: 'error', title: 'Error', cell: ({ error }) => (error === null ? '' : `${error.message} [${error.code}]`) },
  {
    id: 'next',
    title: 'Next try',
    width: 160,
    cell: ({ nextTryAt }) => (nextTryAt === null ? '' : <ClockTime at={nextTryAt} of="next try" />),
  },
  {
    id: 'created',
    title: 'Created',
    width: 110,
    onNarrow: 'line',
    cell: ({ createdAt }) => (createdAt === null ? '' : <Age at={createdAt} of="created" />),
  },
  { id: 'retry', title: 'Action', width: 90, onNarrow: 'line', cell: (delivery) => <Retry {...delivery} /> },
];

/** An unknown outcome may have reached people already. */
function Retry({ id, status }: Delivery): ReactElement | null {
  if (status !== 'failed' && status !== 'unknown') return null;
  const confirm = {
    title: 'Send it again?',
    text: 'Whether it arrived is not known: it may arrive twice.',
    button: 'Send again',
  };
  return (
    <ActionButton
      needs="submit"
      size="compact-xs"
      text="Retry"
      run={() => answerOf(api.POST('/v1/deliveries/{id}/retry', byId(id)))}
      done="It is sent again"
      refresh={[DELIVERIES_KEY]}
      {...(status === 'unknown' ? { confirm } : {})}
    />
  );
}

const SHOWN = 100;

/** Replies to chats and callbacks, apart from the tasks that they tell about. */
export function Page(): ReactElement {
  const filters = useFilters(FILTERS);
  const { search } = filters;
  const query = useInfiniteQuery({
    queryKey: [...DELIVERIES_KEY, search],
    queryFn: ({ pageParam, signal }) =>
      answerOf(
        api.GET('/v1/deliveries', {
          params: { query: queryOf<'listDeliveries'>(search, { limit: SHOWN, cursor: pageParam ?? undefined }) },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: usePollInterval(POLL_MS),
  });
  const { hasNextPage: hasMore, isFetchingNextPage: isLoading, fetchNextPage } = query;
  return (
    <PageFrame title="Deliveries">
      <FailingEndpoints />
      <FilterBar filters={filters} fields={FIELDS} />
      <QueryView query={query} title="The deliveries could not be read">
        {({ pages }) => (
          <DataTable
            name="deliveries"
            label="Deliveries"
            rows={pages.flatMap(({ items }) => items)}
            rowId={({ id }) => id}
            columns={COLUMNS}
            of={search}
            tone={({ status }) => (status === 'failed' ? 'bad' : status === 'unknown' ? 'warn' : null)}
            more={{ hasMore, isLoading, load: () => void fetchNextPage() }}
            whenEmpty={
              filters.count > 0 ? 'No delivery fits the filter.' : 'Nothing was delivered yet. Replies to chats and callbacks appear here.'
            }
          />
        )}
      </QueryView>
    </PageFrame>
  );
}
