import type { ReactElement } from 'react';
import type { Hub, Worker } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import type { RunningTask } from './read-fleet.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { Bar } from '../../parts/plot/sparkline.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age } from '../../parts/time.tsx';
import { TaskLinks } from './task-links.tsx';

/** Clocks that differ more make records contradict each other. */
const SKEW_WARN_MS = 1000;

const TONES: Readonly<Record<Worker['status'], Tone>> = { alive: 'good', idle: 'good', busy: 'busy', draining: 'warn', dead: 'bad' };

/** A worker or hub with its tasks. */
type Row<Member extends Worker> = Member & { tasks: RunningTask[] };

function withTasks<Member extends Worker>(members: readonly Member[], tasks: readonly RunningTask[]): Row<Member>[] {
  const byWorker = Map.groupBy(tasks, ({ worker }) => worker);
  return members.map((member) => ({ ...member, tasks: byWorker.get(member.id) ?? [] }));
}

const SHARED: readonly Column<Row<Worker>>[] = [
  { id: 'id', title: 'Name', width: 160, onNarrow: 'first', cell: ({ id }) => <code title={id}>{id}</code>, sortValue: ({ id }) => id },
  {
    id: 'status',
    title: 'Status',
    width: 90,
    onNarrow: 'line',
    cell: ({ status }) => <ToneBadge tone={TONES[status]}>{status}</ToneBadge>,
    sortValue: ({ status }) => status,
  },
  {
    id: 'slots',
    title: 'Slots',
    width: 160,
    onNarrow: 'line',
    cell: ({ id, slots, running }) => (slots === null ? '–' : <Bar label={`Slots of ${id}`} value={running ?? 0} of={slots} />),
    sortValue: ({ running }) => running,
  },
  { id: 'tasks', title: 'Runs', width: 130, cell: ({ tasks, running }) => <TaskLinks tasks={tasks} running={running ?? 0} /> },
  { id: 'version', title: 'Version', width: 70, cell: ({ version }) => version ?? '–', sortValue: ({ version }) => version },
  {
    id: 'memory',
    title: 'Memory',
    width: 80,
    align: 'end',
    cell: ({ memoryMb }) => (memoryMb === null ? '–' : `${Math.round(memoryMb)} MB`),
    sortValue: ({ memoryMb }) => memoryMb,
  },
  {
    id: 'cpu',
    title: 'Cores',
    width: 70,
    align: 'end',
    cell: ({ cpu }) => (cpu === null ? '–' : cpu.toFixed(2)),
    sortValue: ({ cpu }) => cpu,
  },
  {
    id: 'skew',
    title: 'Skew',
    width: 80,
    align: 'end',
    cell: ({ skewMs }) => (Math.abs(skewMs) > SKEW_WARN_MS ? <ToneBadge tone="bad">{`${skewMs} ms`}</ToneBadge> : `${skewMs} ms`),
    sortValue: ({ skewMs }) => skewMs,
  },
  {
    id: 'loop',
    title: 'Loop delay',
    width: 95,
    align: 'end',
    isOptional: true,
    cell: ({ eventLoopDelayMs }) => (eventLoopDelayMs === null ? '–' : `${eventLoopDelayMs.toFixed(1)} ms`),
    sortValue: ({ eventLoopDelayMs }) => eventLoopDelayMs,
  },
  {
    id: 'host',
    title: 'Machine',
    width: 160,
    isOptional: true,
    cell: ({ host, pid }) => `${host}, pid ${pid}`,
    sortValue: ({ host }) => host,
  },
  {
    id: 'beat',
    title: 'Heartbeat',
    width: 95,
    cell: ({ lastBeatAt }) => <Age at={lastBeatAt} of="last heartbeat" />,
    sortValue: ({ lastBeatAt }) => lastBeatAt,
  },
];

const ACTIONS: Column<Row<Worker>> = {
  id: 'actions',
  title: 'Actions',
  width: 90,
  align: 'end',
  onNarrow: 'line',
  cell: (member) => <DrainButton member={member} />,
};
const WORKER_COLUMNS: readonly Column<Row<Worker>>[] = [
  ...SHARED,
  { id: 'queues', title: 'Queues', cell: ({ queues }) => <span title={queues.join(', ')}>{queues.join(', ')}</span> },
  ACTIONS,
];
const HUB_COLUMNS: readonly Column<Row<Hub>>[] = [
  ...SHARED.filter(({ id }) => id !== 'slots'),
  { id: 'daemons', title: 'Daemons', width: 85, align: 'end', cell: ({ daemons }) => daemons, sortValue: ({ daemons }) => daemons },
  ACTIONS,
];

interface WorkerPanelProps {
  workers: readonly Worker[];
  tasks: readonly RunningTask[];
}

export function WorkerPanel({ workers, tasks }: WorkerPanelProps): ReactElement {
  return (
    <Panel title="Workers">
      <DataTable
        name="workers"
        label="Workers"
        rows={withTasks(workers, tasks)}
        rowId={({ id }) => id}
        columns={WORKER_COLUMNS}
        tone={toneOf}
        whenEmpty="No worker runs, so no task starts. Start the service worker."
      />
    </Panel>
  );
}

export function HubPanel({ hubs, tasks }: { hubs: readonly Hub[]; tasks: readonly RunningTask[] }): ReactElement {
  return (
    <Panel title="Hubs">
      <DataTable
        name="hubs"
        label="Hubs"
        rows={withTasks(hubs, tasks)}
        rowId={({ id }) => id}
        columns={HUB_COLUMNS}
        tone={toneOf}
        whenEmpty="No hub runs."
      />
    </Panel>
  );
}

function toneOf({ status }: Worker): 'bad' | 'warn' | null {
  if (status === 'dead') return 'bad';
  return status === 'draining' ? 'warn' : null;
}

/** Lets a worker finish what it runs and end. */
function DrainButton({ member: { id, status, running } }: { member: Worker }): ReactElement | null {
  if (status === 'dead' || status === 'draining') return null;
  const count = running ?? 0;
  return (
    <ActionButton
      needs="operate"
      text="Drain"
      size="compact-xs"
      run={() => answerOf(api.POST('/v1/fleet/{id}/drain', byId(id)))}
      done={`${id} drains`}
      refresh={[['fleet']]}
      confirm={{
        title: `Drain ${id}?`,
        text: `It takes nothing more, finishes ${count === 1 ? 'its task' : `its ${count} tasks`}, and its process ends. This cannot be undone; a new worker has to be started.`,
        button: 'Drain',
        danger: true,
      }}
      danger
    />
  );
}
