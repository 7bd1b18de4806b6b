import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { MinuteMetrics, Worker } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../../api/api.ts';
import { QUEUES_KEY } from '../../api/query-keys.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { Panel } from '../../parts/layout/panel.tsx';
import { Plot } from '../../parts/plot/plot.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { PageLink } from '../../routing/navigation.tsx';

type QueueHistory = MinuteMetrics[];

const MINUTE_MS = 60_000;
const SECOND_MS = 1000;

/** The depth of all queues over time; for a chosen one also the age of its oldest task and who serves it. */
export function OneQueue({ name }: { name: string | null }): ReactElement {
  return (
    <>
      <Depth name={name} />
      {name === null ? null : <Serving queue={name} />}
    </>
  );
}

const HISTORY_MINUTES = 120;

function Depth({ name }: { name: string | null }): ReactElement | null {
  const { data = [] } = useQuery({
    queryKey: [...QUEUES_KEY, 'history'],
    queryFn: ({ signal }) =>
      itemsOf(api.GET('/v1/metrics/history', { params: { query: { minutes: HISTORY_MINUTES, scope: 'fleet' } }, signal })),
    refetchInterval: MINUTE_MS,
  });
  const measured = data.filter(({ queues }) => queues.length > 0);
  if (measured.length < 2) return null;
  const times = data.map(({ at }) => Date.parse(at) / SECOND_MS);
  if (name === null) {
    return (
      <Panel title="Depth">
        <Plot label="Waiting tasks, all queues" times={times} series={[{ name: 'waiting', values: data.map(totalWaiting) }]} unit="tasks" />
      </Panel>
    );
  }
  const of = data.map(({ queues }) => queues.find((queue) => queue.name === name));
  const oldest = of.map((queue) => (typeof queue?.oldestMs === 'number' ? queue.oldestMs / SECOND_MS : null));
  return (
    <Panel title={`Depth of ${name}`} actions={<PageLink href="/queues">All queues</PageLink>}>
      <Plot
        label="Waiting tasks"
        times={times}
        series={[{ name: 'waiting', values: of.map((queue) => queue?.waiting ?? null) }]}
        unit="tasks"
      />
      <Plot label="Age of the oldest" times={times} series={[{ name: 'oldest', values: oldest, tone: 'warn' }]} unit="s" />
    </Panel>
  );
}

function totalWaiting({ queues }: QueueHistory[number]): number | null {
  const counts = queues.flatMap(({ waiting }) => waiting ?? []);
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

const COLUMNS: readonly Column<Worker>[] = [
  { id: 'id', title: 'Worker', onNarrow: 'first', cell: ({ id }) => id },
  {
    id: 'status',
    title: 'Status',
    width: 120,
    onNarrow: 'line',
    cell: ({ status }) => <ToneBadge tone={status === 'dead' ? 'bad' : status === 'draining' ? 'warn' : 'good'}>{status}</ToneBadge>,
  },
  { id: 'running', title: 'Running', width: 130, onNarrow: 'line', cell: ({ running, slots }) => `${running ?? '–'} of ${slots ?? '–'}` },
  { id: 'queues', title: 'Serves', cell: ({ queues }) => queues.join(', ') },
];

function Serving({ queue }: { queue: string }): ReactElement {
  const { data = [] } = useLiveQuery({
    queryKey: [...QUEUES_KEY, 'workers'],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/fleet', { signal })).then(({ workers }) => workers),
    kinds: [],
  });
  return (
    <Panel title={`Who serves ${queue}`}>
      <DataTable
        name="queue-workers"
        label={`Workers that serve ${queue}`}
        rows={data.filter(({ queues }) => queues.includes(queue))}
        of={queue}
        rowId={({ id }) => id}
        columns={COLUMNS}
        whenEmpty="No worker serves this queue. Its tasks wait until one does."
      />
    </Panel>
  );
}
