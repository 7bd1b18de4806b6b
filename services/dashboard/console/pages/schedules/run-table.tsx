import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import type { Run } from '#shared/client/openapi.gen.ts';
import { readRuns, RUNS_SHOWN } from './schedule-reads.ts';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { Money, Tokens } from '../../parts/numbers.tsx';
import { ToneBadge, type Tone } from '../../parts/status-badge.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import type { Column } from '../../parts/table/column.ts';
import { ClockTime, Elapsed } from '../../parts/time.tsx';
import { taskPath } from '../../routing/paths.ts';

const POLL_MS = 5000;

const TONES: Readonly<Record<Run['status'], Tone>> = {
  pending: 'idle',
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
  skipped: 'idle',
};

function tokensOf({ inputTokens, outputTokens }: Run): { inputTokens: number; outputTokens: number } | null {
  return typeof inputTokens === 'number' && typeof outputTokens === 'number' ? { inputTokens, outputTokens } : null;
}

const durationOf = ({ startedAt, completedAt }: Run): number | null =>
  startedAt && completedAt ? Date.parse(completedAt) - Date.parse(startedAt) : null;

const COLUMNS: readonly Column<Run>[] = [
  {
    id: 'occurrence',
    title: 'Due',
    width: 190,
    cell: ({ occurrence, startedAt }) =>
      occurrence ? <ClockTime at={occurrence} of="due" /> : startedAt ? <ClockTime at={startedAt} /> : 'now',
    onNarrow: 'first',
    sortValue: ({ occurrence }) => occurrence ?? null,
  },
  {
    id: 'status',
    title: 'Status',
    width: 110,
    cell: ({ status }) => <ToneBadge tone={TONES[status]}>{status}</ToneBadge>,
    onNarrow: 'line',
    sortValue: ({ status }) => status,
  },
  {
    id: 'took',
    title: 'Took',
    width: 80,
    align: 'end',
    cell: ({ status, startedAt, completedAt }) => (status === 'skipped' ? '–' : <Elapsed from={startedAt} to={completedAt} />),
    onNarrow: 'line',
    sortValue: durationOf,
  },
  {
    id: 'tokens',
    title: 'Tokens',
    width: 80,
    align: 'end',
    cell: (run) => <Tokens usage={tokensOf(run)} />,
    sortValue: (run) => tokensOf(run)?.outputTokens ?? null,
  },
  {
    id: 'cost',
    title: 'Cost',
    width: 90,
    align: 'end',
    cell: (run) => (tokensOf(run) === null ? '–' : <Money microUsd={run.costMicroUsd} />),
    sortValue: ({ costMicroUsd }) => costMicroUsd ?? null,
  },
  {
    id: 'result',
    title: 'Result',
    cell: ({ reason, error, resultSummary }) => reason ?? error?.message ?? resultSummary ?? '',
    onNarrow: 'line',
  },
];

/** The newest runs of a schedule with what each took and cost. */
export function RunTable({ schedule, name }: { schedule: string; name: string }): ReactElement {
  const query = useQuery({
    queryKey: ['schedules', schedule, 'runs'],
    queryFn: ({ signal }) => readRuns(schedule, signal),
    refetchInterval: POLL_MS,
  });
  return (
    <QueryView query={query} title="The runs could not be read" height={80}>
      {(runs) => (
        <DataTable
          name="runs"
          label={`Runs of ${name}`}
          rows={runs}
          isPart={runs.length >= RUNS_SHOWN}
          rowId={({ id }) => id}
          columns={COLUMNS}
          href={({ id }) => taskPath({ id, tenant: null })}
          tone={({ status }) => (status === 'failed' ? 'bad' : null)}
          whenEmpty="No runs yet"
        />
      )}
    </QueryView>
  );
}
