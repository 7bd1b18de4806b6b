import type { ReactElement } from 'react';
import type { CallbackEndpoint } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../../api/api.ts';
import { DELIVERIES_KEY, ENDPOINTS_KEY } from '../../api/query-keys.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age } from '../../parts/time.tsx';

const COLUMNS: readonly Column<CallbackEndpoint>[] = [
  { id: 'url', title: 'Endpoint', onNarrow: 'first', cell: ({ url }) => url },
  {
    id: 'state',
    title: 'State',
    width: 110,
    onNarrow: 'line',
    cell: ({ disabledAt }) => (
      <ToneBadge tone={disabledAt === null ? 'warn' : 'bad'}>{disabledAt === null ? 'failing' : 'disabled'}</ToneBadge>
    ),
  },
  { id: 'failures', title: 'Failures', width: 90, align: 'end', cell: ({ failures }) => failures },
  { id: 'since', title: 'Since', width: 110, onNarrow: 'line', cell: ({ failingSince }) => <Age at={failingSince} of="failing since" /> },
  { id: 'error', title: 'Last error', cell: ({ error }) => error },
  { id: 'enable', title: 'Action', width: 90, onNarrow: 'line', cell: (endpoint) => <Enable {...endpoint} /> },
];

function Enable({ url, disabledAt }: CallbackEndpoint): ReactElement | null {
  if (disabledAt === null) return null;
  return (
    <ActionButton
      needs="operate"
      size="compact-xs"
      text="Enable"
      run={() => answerOf(api.POST('/v1/callbacks/endpoints/enable', { body: { url: url } }))}
      done="The endpoint is called again"
      refresh={[ENDPOINTS_KEY, DELIVERIES_KEY]}
    />
  );
}

/** Endpoints of callbacks that fail, or are not called any more; nothing while all is well. */
export function FailingEndpoints(): ReactElement | null {
  const { data = [] } = useLiveQuery({
    queryKey: ENDPOINTS_KEY,
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/callbacks/endpoints', { signal })),
    kinds: [],
  });
  if (data.length === 0) return null;
  return (
    <Panel title="Endpoints that fail">
      <DataTable
        name="callback-endpoints"
        label="Endpoints that fail"
        rows={data}
        rowId={({ url }) => url}
        columns={COLUMNS}
        whenEmpty=""
      />
    </Panel>
  );
}
