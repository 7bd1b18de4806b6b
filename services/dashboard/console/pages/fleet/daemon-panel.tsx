import type { ReactElement } from 'react';
import type { Daemon, FleetDaemon } from '#shared/client/openapi.gen.ts';
import type { FleetData, RunningTask } from './read-fleet.ts';
import { bytesText } from '../../parts/numbers.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { Bar } from '../../parts/plot/sparkline.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Age } from '../../parts/time.tsx';
import { DaemonMenu } from './daemon-menu.tsx';
import { TaskLinks } from './task-links.tsx';

const TONES: Readonly<Record<Daemon['status'], Tone>> = { online: 'good', busy: 'busy', draining: 'warn', offline: 'idle' };

const BYTES_PER_MB = 1024 ** 2;

/** A daemon of the person's tenant, or a daemon of another tenant, which only an installation's key sees. */
type Row = (FleetDaemon | Daemon) & { linked: RunningTask[]; own: Daemon | null };

/** The registered daemons, and for the installation also those of other tenants that have connected. */
function rowsOf({ registered, daemons, tasks }: FleetData): Row[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const linksOf = (ids: readonly string[]): RunningTask[] => ids.map((id) => byId.get(id) ?? { id, agent: id, worker: null });
  const own = registered.map((daemon): Row => ({ ...daemon, own: daemon, linked: linksOf(daemon.tasks) }));
  const known = new Set(registered.map(({ id }) => id));
  const others = daemons.flatMap((daemon): Row[] => (known.has(daemon.id) ? [] : [{ ...daemon, own: null, linked: [] }]));
  return [...own, ...others];
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 170,
    onNarrow: 'first',
    cell: ({ name, id }) => <strong title={`${name} (${id})`}>{name}</strong>,
    sortValue: ({ name }) => name,
  },
  {
    id: 'status',
    title: 'Status',
    width: 95,
    onNarrow: 'line',
    cell: ({ status, own }) =>
      own?.enabled === false ? <ToneBadge tone="warn">disabled</ToneBadge> : <ToneBadge tone={TONES[status]}>{status}</ToneBadge>,
    sortValue: ({ status }) => status,
  },
  {
    id: 'slots',
    title: 'Slots',
    width: 150,
    onNarrow: 'line',
    cell: ({ name, running, offers, status }) =>
      offers === null || status === 'offline' ? '–' : <Bar label={`Slots of ${name}`} value={running} of={offers.slots} />,
    sortValue: ({ running }) => running,
  },
  { id: 'tasks', title: 'Runs', width: 150, cell: ({ linked, running }) => <TaskLinks tasks={linked} running={running} /> },
  {
    id: 'capabilities',
    title: 'Capabilities',
    cell: ({ offers, own }) => (offers?.capabilities ?? own?.capabilities ?? []).join(', ') || '–',
  },
  {
    id: 'agents',
    title: 'Agents',
    width: 130,
    isOptional: true,
    cell: ({ offers, own }) => (own?.agents ?? offers?.agents)?.join(', ') ?? 'any',
  },
  { id: 'user', title: 'User', width: 100, isOptional: true, cell: ({ user }) => user ?? 'all', sortValue: ({ user }) => user },
  {
    id: 'tenant',
    title: 'Tenant',
    width: 100,
    isOptional: true,
    cell: (row) => ('tenant' in row ? row.tenant : 'own'),
    sortValue: (row) => ('tenant' in row ? row.tenant : ''),
  },
  { id: 'host', title: 'Machine', width: 120, cell: ({ host }) => host ?? '–', sortValue: ({ host }) => host },
  { id: 'version', title: 'Version', width: 80, cell: ({ version }) => version ?? '–', sortValue: ({ version }) => version },
  {
    id: 'memory',
    title: 'Free memory',
    width: 100,
    align: 'end',
    cell: ({ memoryMb }) => (memoryMb === null ? '–' : bytesText(memoryMb * BYTES_PER_MB)),
    sortValue: ({ memoryMb }) => memoryMb,
  },
  {
    id: 'beat',
    title: 'Last beat',
    width: 95,
    cell: ({ lastBeatAt }) => (lastBeatAt === null ? 'never' : <Age at={lastBeatAt} of="last beat" />),
    sortValue: ({ lastBeatAt }) => lastBeatAt,
  },
  {
    id: 'actions',
    title: 'Actions',
    width: 70,
    align: 'end',
    onNarrow: 'line',
    cell: ({ own }) => (own === null ? null : <DaemonMenu daemon={own} />),
  },
];

export function DaemonPanel({ fleet }: { fleet: FleetData }): ReactElement {
  return (
    <Panel title="Daemons">
      <DataTable
        name="daemons"
        label="Daemons"
        rows={rowsOf(fleet)}
        rowId={({ id }) => id}
        columns={COLUMNS}
        tone={({ status, own }) => (status === 'draining' || own?.enabled === false ? 'warn' : null)}
        whenEmpty="No daemon is registered. A daemon runs tasks on a machine of your own."
      />
    </Panel>
  );
}
