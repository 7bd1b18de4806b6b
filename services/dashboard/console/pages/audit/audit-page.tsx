import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { FilterBar, type FilterField } from '../../parts/filters/filter-bar.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { ClockTime } from '../../parts/time.tsx';
import { useFilters } from '../../routing/use-filters.ts';
import type { AuditEntry } from '#shared/client/openapi.gen.ts';
import { answerOf, api, queryOf } from '../../api/api.ts';

const FILTERS = { q: 'text', who: 'text', action: 'text', object: 'text', outcome: 'text', since: 'text', until: 'text' } as const;

const LIMIT = 100;

const FIELDS: readonly FilterField[] = [
  { name: 'q', kind: 'search', label: 'Search' },
  { name: 'who', kind: 'text', label: 'Who' },
  { name: 'action', kind: 'text', label: 'Action’s id' },
  { name: 'object', kind: 'text', label: 'Object begins with' },
  {
    name: 'outcome',
    kind: 'pick',
    label: 'Outcome',
    choices: ['done', 'refused', 'failed'].map((value) => ({ value, label: value })),
  },
  { name: 'since', kind: 'time', label: 'Since' },
  { name: 'until', kind: 'time', label: 'Until' },
];

const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: 'at', title: 'Time', width: 170, onNarrow: 'first', cell: ({ at }) => <ClockTime at={at} of="done" /> },
  { id: 'who', title: 'Who', width: 190, onNarrow: 'line', cell: ({ actor }) => <span title={actor.id}>{whoText(actor)}</span> },
  {
    id: 'action',
    title: 'Action',
    width: 210,
    onNarrow: 'line',
    cell: ({ action, actionText }) => <span title={action}>{actionText}</span>,
  },
  { id: 'object', title: 'Object', onNarrow: 'line', cell: ({ object }) => <span title={object ?? undefined}>{object ?? '–'}</span> },
  { id: 'outcome', title: 'Outcome', width: 180, cell: ({ outcome, code }) => (code === null ? outcome : `${outcome}: ${code}`) },
  { id: 'via', title: 'Via', width: 70, cell: ({ via }) => via },
  { id: 'from', title: 'From', width: 110, cell: ({ from }) => from ?? '–' },
  { id: 'fields', title: 'Fields', isOptional: true, cell: ({ fields }) => fields.join(', ') },
];

function whoText({ kind, name, tenant }: AuditEntry['actor']): string {
  return `${name} (${kind}${tenant === null ? '' : ` of ${tenant}`})`;
}

const rowId = ({ id }: AuditEntry): string => id;
const toneOf = ({ outcome }: AuditEntry): 'bad' | 'warn' | null => (outcome === 'done' ? null : outcome === 'failed' ? 'bad' : 'warn');

/** Who changed what in the tenant, when and from where. */
export function Page(): ReactElement {
  const filters = useFilters(FILTERS);
  const { search } = filters;
  const query = useInfiniteQuery({
    queryKey: ['audit', search],
    queryFn: ({ pageParam, signal }) => {
      const part = queryOf<'listAudit'>(search, { limit: LIMIT, cursor: pageParam ?? undefined });
      return answerOf(api.GET('/v1/audit', { params: { query: part }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
  return (
    <PageFrame
      title="Audit log"
      actions={
        <Button
          component="a"
          size="xs"
          variant="default"
          href={`/v1/audit?${search === '' ? '' : `${search}&`}format=ndjson`}
          download="audit.ndjson"
        >
          Export
        </Button>
      }
    >
      <FilterBar filters={filters} fields={FIELDS} />
      <QueryView query={query} title="The audit log could not be read">
        {({ pages }) => (
          <DataTable
            name="audit"
            label="Audit log"
            rows={pages.flatMap(({ items }) => items)}
            rowId={rowId}
            columns={COLUMNS}
            tone={toneOf}
            of={search}
            whenEmpty="No entry fits."
            more={{ hasMore: query.hasNextPage, isLoading: query.isFetchingNextPage, load: () => void query.fetchNextPage() }}
          />
        )}
      </QueryView>
    </PageFrame>
  );
}
