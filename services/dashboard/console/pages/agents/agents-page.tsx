import { Button, Modal } from '@mantine/core';
import { useMemo, useState, type ReactElement } from 'react';
import { AGENTS_KEY, readAgents, readAgentTasks, readAgentUsage, SAMPLE, type Agent, type AgentUsage } from '../../api/agents.ts';
import { useMay } from '../../api/person.ts';
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
import { AgentForm } from './agent-form.tsx';
import { figuresOf, type AgentFigures } from './agent-figures.ts';

/** A part of the newest tasks that failed from which on the rate is marked. */
const MANY_FAIL = 0.2;

interface AgentRow {
  agent: Agent;
  figures: AgentFigures;
  usage: AgentUsage | undefined;
}

const COLUMNS: readonly Column<AgentRow>[] = [
  { id: 'id', title: 'Agent', width: 200, onNarrow: 'first', cell: ({ agent }) => agent.id, sortValue: ({ agent }) => agent.id },
  {
    id: 'state',
    title: 'State',
    width: 120,
    onNarrow: 'line',
    cell: ({ agent: { hold } }) =>
      hold === null ? '' : <ToneBadge tone="warn">{hold.gate === 'agent' ? 'paused' : 'keeps failing'}</ToneBadge>,
    sortValue: ({ agent: { hold } }) => hold?.gate ?? '',
  },
  { id: 'kind', title: 'Kind', width: 100, onNarrow: 'line', cell: ({ agent }) => agent.kind, sortValue: ({ agent }) => agent.kind },
  { id: 'model', title: 'Model', width: 160, cell: ({ agent }) => agent.model ?? '', sortValue: ({ agent }) => agent.model ?? '' },
  { id: 'description', title: 'Description', cell: ({ agent }) => agent.description ?? '' },
  { id: 'running', title: 'At once', width: 80, align: 'end', isOptional: true, cell: ({ agent }) => <Count value={agent.maxRunning} /> },
  { id: 'timeout', title: 'Timeout', width: 90, align: 'end', isOptional: true, cell: ({ agent }) => <Duration ms={agent.timeoutMs} /> },
  {
    id: 'last',
    title: 'Last task',
    width: 110,
    onNarrow: 'line',
    cell: ({ figures }) => (figures.lastAt === null ? '' : <Age at={figures.lastAt} of="accepted" />),
    sortValue: ({ figures }) => figures.lastAt,
  },
  {
    id: 'failures',
    title: 'Failed',
    width: 80,
    align: 'end',
    onNarrow: 'line',
    cell: ({ figures }) => (figures.failureRate === null ? '–' : percentText(figures.failureRate)),
    sortValue: ({ figures }) => figures.failureRate,
  },
  {
    id: 'p95',
    title: 'p95',
    width: 80,
    align: 'end',
    cell: ({ figures }) => <Duration ms={figures.p95Ms} />,
    sortValue: ({ figures }) => figures.p95Ms,
  },
  {
    id: 'cost',
    title: '30 days',
    width: 100,
    align: 'end',
    cell: ({ usage }) => (usage === undefined ? '–' : <Money microUsd={usage.costMicroUsd} isEstimated={usage.estimated > 0} />),
    sortValue: ({ usage }) => usage?.costMicroUsd ?? null,
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

/** The agents that tasks can name, with what their newest tasks show. */
export function Page(): ReactElement {
  const [isCreating, setCreating] = useState(false);
  const may = useMay('operate');
  const agents = useLiveQuery({ queryKey: AGENTS_KEY, queryFn: ({ signal }) => readAgents(signal), kinds: [] });
  const { data: tasks } = useLiveQuery({
    queryKey: [...AGENTS_KEY, 'tasks'],
    queryFn: ({ signal }) => readAgentTasks(null, signal),
    kinds: ['task.*'],
  });
  const { data: usage } = useLiveQuery({ queryKey: [...AGENTS_KEY, 'usage'], queryFn: ({ signal }) => readAgentUsage(signal), kinds: [] });
  const rows = useMemo(
    () =>
      (agents.data ?? []).map((agent) => ({
        agent,
        figures: figuresOf((tasks ?? []).filter((task) => task.agent === agent.id)),
        usage: usage?.find(({ group }) => group === agent.id),
      })),
    [agents.data, tasks, usage],
  );
  const close = (): void => setCreating(false);
  const button = may ? (
    <Button size="xs" leftSection={<Icon name="plus" size={14} />} onClick={() => setCreating(true)}>
      New agent
    </Button>
  ) : null;
  return (
    <PageFrame title="Agents" note={`failed and p95 of the newest ${SAMPLE} tasks`} actions={button}>
      <QueryView query={agents} title="The agents could not be read">
        {() => (
          <DataTable
            name="agents"
            label="Agents"
            rows={rows}
            rowId={({ agent }) => agent.id}
            columns={COLUMNS}
            href={({ agent }) => agentPath(agent.id)}
            tone={({ figures }) => ((figures.failureRate ?? 0) >= MANY_FAIL ? 'warn' : null)}
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
