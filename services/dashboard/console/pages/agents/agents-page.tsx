import { Button, Modal, NativeSelect } from '@mantine/core';
import { useMemo, useState, type ReactElement } from 'react';
import type { Agent, AgentMetrics } from '#shared/client/openapi.gen.ts';
import { answerOf, api, itemsOf } from '../../api/api.ts';
import { useMay } from '../../api/person.ts';
import { AGENTS_KEY } from '../../api/query-keys.ts';
import { WINDOWS, windowText } from './figures-window.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { Icon } from '../../parts/icon.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { Count, Money, percentText } from '../../parts/numbers.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age, Duration } from '../../parts/time.tsx';
import { agentPath } from '../../routing/paths.ts';
import { useFilters } from '../../routing/use-filters.ts';
import { AgentForm } from './agent-form.tsx';

/** A part of its tasks that failed from which on the rate is marked. */
const MANY_FAIL = 0.2;

interface AgentRow {
  agent: Agent;
  /** Undefined where it did nothing in the window. */
  figures: AgentMetrics | undefined;
}

const FILTERS = { hours: 'text' } as const;
const CHOICES = WINDOWS.map((value) => ({ value, label: `Figures of ${windowText(Number(value))}` }));

const COLUMNS: readonly Column<AgentRow>[] = [
  {
    id: 'id',
    title: 'Agent',
    onNarrow: 'first',
    cell: ({ agent: { id, description } }) => <span title={[id, description].filter(Boolean).join(': ')}>{id}</span>,
    sortValue: ({ agent }) => agent.id,
  },
  {
    id: 'state',
    title: 'State',
    width: 110,
    onNarrow: 'line',
    cell: ({ agent: { hold } }) =>
      hold === null ? '' : <ToneBadge tone="warn">{hold.gate === 'agent' ? 'paused' : 'keeps failing'}</ToneBadge>,
    sortValue: ({ agent: { hold } }) => hold?.gate ?? '',
  },
  { id: 'kind', title: 'Kind', width: 84, onNarrow: 'line', cell: ({ agent }) => agent.kind, sortValue: ({ agent }) => agent.kind },
  { id: 'model', title: 'Model', width: 140, cell: ({ agent }) => agent.model ?? '', sortValue: ({ agent }) => agent.model ?? '' },
  { id: 'description', title: 'Description', width: 280, isOptional: true, cell: ({ agent }) => agent.description ?? '' },
  {
    id: 'running',
    title: 'At once',
    width: 76,
    align: 'end',
    cell: ({ agent }) => (agent.maxRunning === null ? 'any' : <Count value={agent.maxRunning} />),
  },
  {
    id: 'timeout',
    title: 'Timeout',
    width: 76,
    align: 'end',
    cell: ({ agent }) => <Effective own={agent.timeoutMs} usual={agent.effective?.timeoutMs} show={(ms) => <Duration ms={ms} />} />,
  },
  {
    id: 'attempts',
    title: 'Attempts',
    width: 76,
    align: 'end',
    cell: ({ agent }) => (
      <Effective own={agent.maxAttempts} usual={agent.effective?.maxAttempts} show={(count) => <Count value={count} />} />
    ),
  },
  {
    id: 'last',
    title: 'Last active',
    width: 100,
    onNarrow: 'line',
    cell: ({ figures }) => (figures === undefined ? '' : <Age at={figures.lastAt} of="last attempt" />),
    sortValue: ({ figures }) => figures?.lastAt ?? null,
  },
  {
    id: 'tasks',
    title: 'Ended',
    width: 68,
    align: 'end',
    cell: ({ figures }) => <Count value={figures === undefined ? 0 : figures.completed + figures.failed} />,
    sortValue: ({ figures }) => (figures === undefined ? 0 : figures.completed + figures.failed),
  },
  {
    id: 'failures',
    title: 'Failed',
    width: 68,
    align: 'end',
    onNarrow: 'line',
    cell: ({ figures }) => <FailureRate figures={figures} />,
    sortValue: ({ figures }) => figures?.failureRate ?? null,
  },
  {
    id: 'p95',
    title: 'p95',
    width: 68,
    align: 'end',
    cell: ({ figures }) => <Duration ms={figures?.runP95Ms ?? null} />,
    sortValue: ({ figures }) => figures?.runP95Ms ?? null,
  },
  {
    id: 'cost',
    title: 'Cost',
    width: 84,
    align: 'end',
    cell: ({ figures }) => (figures === undefined ? '–' : <Money microUsd={figures.costMicroUsd} />),
    sortValue: ({ figures }) => figures?.costMicroUsd ?? null,
  },
  {
    id: 'origin',
    title: 'From',
    width: 130,
    cell: ({ agent }) => (
      <ToneBadge tone={agent.origin === 'api' ? 'busy' : 'idle'}>{agent.origin === 'api' ? 'API' : 'configuration'}</ToneBadge>
    ),
  },
];

/** A value of the definition, or the default that holds instead, which is fainter. */
function Effective({
  own,
  usual,
  show,
}: {
  own: number | null;
  usual: number | undefined;
  show: (value: number) => ReactElement;
}): ReactElement {
  if (own !== null || usual === undefined) return own === null ? <>–</> : show(own);
  return (
    <span className="faint" title="the default of the configuration">
      {show(usual)}
    </span>
  );
}

function FailureRate({ figures }: { figures: AgentMetrics | undefined }): ReactElement {
  if (figures === undefined || figures.failureRate === null) return <>–</>;
  return <span title={`${figures.failed} of ${figures.failed + figures.completed}`}>{percentText(figures.failureRate)}</span>;
}

/** The agents that tasks can name, with what they did in a window of hours. */
export function Page(): ReactElement {
  const [isCreating, setCreating] = useState(false);
  const may = useMay('operate');
  const filters = useFilters(FILTERS);
  const hours = filters.values.hours ?? WINDOWS[0];
  const agents = useLiveQuery({ queryKey: AGENTS_KEY, queryFn: ({ signal }) => itemsOf(api.GET('/v1/agents', { signal })), kinds: [] });
  const { data: metrics } = useLiveQuery({
    queryKey: [...AGENTS_KEY, 'metrics', hours],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/metrics/agents', { params: { query: { hours: Number(hours) } }, signal })),
    kinds: [],
  });
  const rows = useMemo(
    () => (agents.data ?? []).map((agent) => ({ agent, figures: metrics?.items.find((each) => each.agent === agent.id) })),
    [agents.data, metrics],
  );
  const close = (): void => setCreating(false);
  const button = may ? (
    <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setCreating(true)}>
      New agent
    </Button>
  ) : null;
  return (
    <PageFrame
      title="Agents"
      note={metrics === undefined ? null : `failed, p95 and cost of ${windowText(metrics.hours)}`}
      actions={
        <>
          <NativeSelect
            size="xs"
            aria-label="Window of the figures"
            data={CHOICES}
            value={hours}
            onChange={({ currentTarget: { value } }) => filters.change({ hours: value === WINDOWS[0] ? null : value })}
          />
          {button}
        </>
      }
    >
      <QueryView query={agents} title="The agents could not be read">
        {() => (
          <DataTable
            name="agents"
            label="Agents"
            rows={rows}
            rowId={({ agent }) => agent.id}
            columns={COLUMNS}
            href={({ agent }) => agentPath(agent.id)}
            tone={({ figures }) => ((figures?.failureRate ?? 0) >= MANY_FAIL ? 'warn' : null)}
            whenEmpty="No agent yet. Add one to muster.config.ts, or create one here."
          />
        )}
      </QueryView>
      <Modal opened={isCreating} onClose={close} title="New agent" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <AgentForm agent={null} onDone={close} />
      </Modal>
    </PageFrame>
  );
}
