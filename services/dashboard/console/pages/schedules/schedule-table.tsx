import type { ReactElement } from 'react';
import type { Schedule } from '#shared/client/openapi.gen.ts';
import { ToneBadge } from '../../parts/status-badge.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Age, ClockTime } from '../../parts/time.tsx';
import { RunStrip, SCHEDULE_TONES } from './schedule-card.tsx';

const COLUMNS: readonly Column<Schedule>[] = [
  {
    id: 'name',
    title: 'Schedule',
    cell: ({ number, name, sentence }) => `#${number} ${name ?? sentence}`,
    onNarrow: 'first',
    sortValue: ({ number }) => number,
  },
  {
    id: 'status',
    title: 'Status',
    width: 100,
    cell: ({ status }) => <ToneBadge tone={SCHEDULE_TONES[status] ?? 'idle'}>{status}</ToneBadge>,
    onNarrow: 'line',
    sortValue: ({ status }) => status,
  },
  { id: 'rule', title: 'Rule', cell: ({ sentence, tz }) => `${sentence} (${tz})` },
  { id: 'agent', title: 'Agent', width: 120, cell: ({ agent }) => agent, sortValue: ({ agent }) => agent },
  {
    id: 'next',
    title: 'Next',
    width: 180,
    cell: ({ nextFireAt, tz }) => (nextFireAt ? <ClockTime at={nextFireAt} of="next run" zone={tz} /> : ''),
    onNarrow: 'line',
    sortValue: ({ nextFireAt }) => nextFireAt ?? null,
  },
  {
    id: 'last',
    title: 'Last',
    width: 100,
    cell: ({ lastRunAt }) => (lastRunAt ? <Age at={lastRunAt} of="last run" /> : ''),
    sortValue: ({ lastRunAt }) => lastRunAt ?? null,
  },
  { id: 'runs', title: 'Runs', width: 70, align: 'end', cell: ({ runCount }) => runCount, sortValue: ({ runCount }) => runCount },
  { id: 'strip', title: 'Newest runs', width: 260, isOptional: true, cell: ({ id }) => <RunStrip schedule={id} /> },
];

interface ScheduleTableProps {
  schedules: readonly Schedule[];
  /** Whether a further page follows. */
  isPart: boolean;
  /** The filter and the page of these schedules. */
  of: string;
  whenEmpty: string;
}

/** The schedules of a page, one per line. */
export function ScheduleTable({ schedules, isPart, of, whenEmpty }: ScheduleTableProps): ReactElement {
  return (
    <DataTable
      name="schedules"
      label="Schedules"
      of={of}
      rows={schedules}
      isPart={isPart}
      rowId={({ id }) => id}
      columns={COLUMNS}
      href={({ id }) => `/schedules?open=${encodeURIComponent(id)}`}
      tone={({ status }) => (status === 'failed' ? 'bad' : status === 'paused' ? 'warn' : null)}
      whenEmpty={whenEmpty}
    />
  );
}
