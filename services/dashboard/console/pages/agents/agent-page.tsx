import type { ReactElement } from 'react';
import type { Agent, AgentMetrics, Task } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId, itemsOf } from '../../api/api.ts';
import { AGENTS_KEY } from '../../api/query-keys.ts';
import { useSetting } from '../../api/settings.ts';
import { AGENT_TASKS_SHOWN, WINDOWS, windowText } from './figures-window.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { Facts } from '../../parts/layout/facts.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { Stat, StatRow } from '../../parts/layout/stat.tsx';
import { Count, Money, percentText } from '../../parts/numbers.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { useDataKey } from '../../parts/table/data-key.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { JsonView } from '../../parts/text/json-view.tsx';
import { Sentence } from '../../parts/text/sentence.tsx';
import { Age, Duration, Elapsed } from '../../parts/time.tsx';
import type { PageProps } from '../../routing/page-props.ts';
import { taskPath } from '../../routing/paths.ts';
import { AgentActions, HoldNotice } from './agent-actions.tsx';
import classes from './agents.module.css';
import { TryForm } from './try-form.tsx';

const COLUMNS: readonly Column<Task>[] = [
  { id: 'input', title: 'Input', onNarrow: 'first', cell: ({ input }) => input },
  { id: 'status', title: 'Status', width: 150, onNarrow: 'line', cell: ({ status }) => <StatusBadge status={status} /> },
  {
    id: 'duration',
    title: 'Ran',
    width: 90,
    align: 'end',
    onNarrow: 'line',
    cell: ({ status, startedAt, completedAt }) => (
      // Between two attempts it does not run.
      <Elapsed from={status === 'running' || completedAt ? startedAt : null} to={completedAt} />
    ),
  },
  { id: 'error', title: 'Error', cell: ({ error }) => (error ? <Failure {...error} /> : '') },
  { id: 'age', title: 'Accepted', width: 110, onNarrow: 'line', cell: ({ createdAt }) => <Age at={createdAt} of="accepted" /> },
];

function Failure({ code, message }: NonNullable<Task['error']>): ReactElement {
  return (
    <span title={message}>
      <Sentence text={message} /> [{code}]
    </span>
  );
}

/** One agent: what it is, what its newest tasks show, and a form to try it. */
export function Page({ params }: PageProps): ReactElement {
  const id = params['id'] ?? '';
  const query = useLiveQuery({
    queryKey: [...AGENTS_KEY, id],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/agents/{id}', { ...byId(id), signal })),
    kinds: [],
  });
  const { data } = query;
  return (
    <PageFrame title={id} note={data?.description ?? undefined} actions={data === undefined ? undefined : <AgentActions agent={data} />}>
      <QueryView query={query} title="The agent could not be read">
        {(agent) => (
          <>
            {agent.hold === null ? null : <HoldNotice hold={agent.hold} />}
            <TryForm agent={agent.id} takesJson={Boolean(agent.inputSchema)} />
            <AgentStats id={agent.id} />
            <AgentTasks id={agent.id} />
            <Panel title="Definition">
              <AgentFacts agent={agent} />
            </Panel>
            <SchemaPanel title="What it takes" schema={agent.inputSchema} />
            <SchemaPanel title="What it results in" schema={agent.outputSchema} />
          </>
        )}
      </QueryView>
    </PageFrame>
  );
}

/** JSON Schema, of an agent that has one. */
function SchemaPanel({ title, schema }: { title: string; schema: Agent['inputSchema'] }): ReactElement | null {
  if (!schema) return null;
  return (
    <Panel title={title}>
      <JsonView value={schema} label={title} />
    </Panel>
  );
}

/** What it did lately, of all its attempts. */
function AgentStats({ id }: { id: string }): ReactElement {
  const query = useLiveQuery({
    queryKey: [...AGENTS_KEY, 'metrics', WINDOWS[0]],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/metrics/agents', { params: { query: { hours: Number(WINDOWS[0]) } }, signal })),
    kinds: [],
  });
  return (
    <QueryView query={query} title="The figures could not be read">
      {({ items, hours }) => <WindowStats id={id} hours={hours} figures={items.find(({ agent }) => agent === id) ?? NO_FIGURES} />}
    </QueryView>
  );
}

const NO_FIGURES = { completed: 0, failed: 0, failureRate: null, runP95Ms: null, costMicroUsd: null };

interface WindowStatsProps {
  id: string;
  hours: number;
  figures: typeof NO_FIGURES | AgentMetrics;
}

function WindowStats({ id, hours, figures }: WindowStatsProps): ReactElement {
  const { completed, failed, failureRate: rate, runP95Ms, costMicroUsd } = figures;
  return (
    <StatRow>
      <Stat label="Ended" value={<Count value={completed + failed} />} hint={windowText(hours)} />
      <Stat
        label="Failed"
        value={rate === null ? '–' : percentText(rate)}
        {...(rate ? { tone: 'bad' as const, href: `/tasks?agent=${encodeURIComponent(id)}&status=permanently_failed` } : {})}
      />
      <Stat label="p95" value={<Duration ms={runP95Ms} />} />
      <Stat label="Cost" value={<Money microUsd={costMicroUsd} />} />
    </StatRow>
  );
}

function AgentTasks({ id }: { id: string }): ReactElement {
  const query = useLiveQuery({
    queryKey: [...AGENTS_KEY, id, 'tasks'],
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/tasks', { params: { query: { agent: id, limit: AGENT_TASKS_SHOWN } }, signal })),
    kinds: ['task.*'],
  });
  const of = useDataKey(id, query.isPlaceholderData);
  return (
    <QueryView query={query} title="The tasks could not be read">
      {(tasks) => (
        <DataTable
          name="agent-tasks"
          label="Newest tasks"
          rows={tasks}
          isPart={tasks.length >= AGENT_TASKS_SHOWN}
          of={of}
          rowId={(task) => task.id}
          columns={COLUMNS}
          href={(task) => taskPath({ id: task.id, tenant: null })}
          tone={({ status }) => (status === 'permanently_failed' ? 'bad' : null)}
          whenEmpty="It has had no task yet. Try it above."
        />
      )}
    </QueryView>
  );
}

/** That of the configuration, which not every key may read. */
function UsualTimeout(): ReactElement {
  const ms = useSetting('tasks.timeoutMs');
  return typeof ms === 'number' ? (
    <>
      <Duration ms={ms} />, as configured
    </>
  ) : (
    <>as configured</>
  );
}

/** What the folder of each session begins as. */
function describeWorkspace(workspace: Agent['workspace']): string | undefined {
  if (workspace === undefined) return undefined;
  const { git, ref, keep } = workspace;
  if (git !== undefined) return `a checkout of ${git}${ref === undefined ? '' : ` at ${ref}`} for each session`;
  return keep === true ? 'an empty folder for each session' : 'what a folder of its machine has, for each session';
}

function AgentFacts({ agent }: { agent: Agent }): ReactElement {
  return (
    <Facts
      items={[
        { label: 'Kind', value: agent.kind },
        { label: 'From', value: agent.origin === 'api' ? 'the API' : 'muster.config.ts' },
        { label: 'Model', value: agent.model },
        { label: 'Address', value: agent.url ?? agent.baseUrl },
        { label: 'Needs', value: agent.capabilities?.join(', ') },
        { label: 'Workspace', value: describeWorkspace(agent.workspace) },
        { label: 'Key or secret', value: agent.hasSecret === undefined ? null : agent.hasSecret ? 'set' : 'none' },
        { label: 'Tasks at once', value: agent.maxRunning ?? 'as many as the tenant may run' },
        { label: 'Timeout', value: agent.timeoutMs === null ? <UsualTimeout /> : <Duration ms={agent.timeoutMs} /> },
        { label: 'Attempts', value: agent.maxAttempts ?? 'as configured' },
        { label: 'Instructions', value: agent.system && <span className={classes['text']}>{agent.system}</span> },
      ]}
    />
  );
}
