import type { ReactElement } from 'react';
import type { Provider } from '#shared/client/openapi.gen.ts';
import { api, itemsOf } from '../../api/api.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { Count } from '../../parts/numbers.tsx';
import { Bar } from '../../parts/plot/sparkline.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age, ClockTime } from '../../parts/time.tsx';

const POLL_MS = 5000;

/** What each model of a provider account may be called, and is, with its walls and cool-downs. */
export function ProviderPanel(): ReactElement {
  const query = useLiveQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/providers', { signal })),
    kinds: [],
    everyMs: POLL_MS,
  });
  return (
    <Panel title="Providers">
      <QueryView query={query} title="The providers could not be read">
        {(providers) => (
          <DataTable
            name="providers"
            label="Providers"
            rows={providers}
            rowId={({ id }) => id}
            columns={COLUMNS}
            tone={({ block }) => (block === null ? null : block.kind === 'wall' ? 'bad' : 'warn')}
            whenEmpty="No model was called lately."
          />
        )}
      </QueryView>
    </Panel>
  );
}

const COLUMNS: readonly Column<Provider>[] = [
  { id: 'model', title: 'Model', onNarrow: 'first', cell: ({ model }) => model, sortValue: ({ model }) => model },
  {
    id: 'account',
    title: 'Account',
    width: 110,
    cell: ({ account, endpoint }) => <span title={endpoint}>{account}</span>,
    sortValue: ({ account }) => account,
  },
  {
    id: 'block',
    title: 'State',
    width: 230,
    onNarrow: 'line',
    cell: ({ block }) => <BlockState block={block} />,
    sortValue: ({ block }) => block?.kind ?? '',
  },
  used('requests', 'Calls a minute', 'requestsPerMinute'),
  used('tokens', 'Tokens a minute', 'tokensPerMinute'),
  used('running', 'Under way', 'concurrent'),
  {
    id: 'waitingTenants',
    title: 'Waiting',
    width: 80,
    align: 'end',
    cell: ({ waitingTenants }) => <Count value={waitingTenants} />,
    sortValue: ({ waitingTenants }) => waitingTenants,
  },
  { id: 'learned', title: 'Limits', width: 100, isOptional: true, cell: ({ learned }) => (learned ? 'learned' : 'configured') },
  {
    id: 'lastCallAt',
    title: 'Last call',
    width: 95,
    cell: ({ lastCallAt }) => <Age at={lastCallAt} of="last call" />,
    sortValue: ({ lastCallAt }) => lastCallAt,
  },
];

/** A figure beside its limit, where that is known. */
function used(
  id: 'requests' | 'tokens' | 'running',
  title: string,
  limit: 'requestsPerMinute' | 'tokensPerMinute' | 'concurrent',
): Column<Provider> {
  return {
    id,
    title,
    width: 135,
    cell: (provider) => {
      const of = provider[limit];
      return of === null ? <Count value={provider[id]} /> : <Bar label={`${title} of ${provider.model}`} value={provider[id]} of={of} />;
    },
    sortValue: (provider) => provider[id],
  };
}

function BlockState({ block }: Pick<Provider, 'block'>): ReactElement {
  if (block === null) return <ToneBadge tone="good">open</ToneBadge>;
  const { kind, scope, reason, until } = block;
  return (
    <>
      <ToneBadge tone={kind === 'wall' ? 'bad' : 'warn'}>{kind === 'wall' ? 'wall' : 'cool-down'}</ToneBadge>{' '}
      <span title={`Named by the error: the ${scope}`}>
        {reason} until <ClockTime at={until} withDay={false} />
      </span>
    </>
  );
}
