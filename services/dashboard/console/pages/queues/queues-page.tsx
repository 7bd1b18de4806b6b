import type { ReactElement } from 'react';
import type { Queue } from '#shared/client/openapi.gen.ts';
import { api, itemsOf } from '../../api/api.ts';
import { QUEUES_KEY } from '../../api/query-keys.ts';
import { switchQueue } from './switch-queue.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { QueryView } from '../../parts/layout/query-view.tsx';
import { Stat, StatRow } from '../../parts/layout/stat.tsx';
import { Count } from '../../parts/numbers.tsx';
import { ToneBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { DataTable } from '../../parts/table/data-table.tsx';
import { Duration } from '../../parts/time.tsx';
import { useFilters } from '../../routing/use-filters.ts';
import { OneQueue } from './one-queue.tsx';

const FILTERS = { queue: 'text' } as const;
const POLL_MS = 3000;

const COLUMNS: readonly Column<Queue>[] = [
  { id: 'name', title: 'Queue', onNarrow: 'first', cell: ({ name }) => name, sortValue: ({ name }) => name },
  { id: 'state', title: 'State', width: 110, onNarrow: 'line', cell: (queue) => <State {...queue} />, sortValue: stateOf },
  {
    id: 'waiting',
    title: 'Waiting',
    width: 90,
    align: 'end',
    onNarrow: 'line',
    cell: ({ waiting }) => <Count value={waiting} />,
    sortValue: ({ waiting }) => waiting,
  },
  {
    id: 'forSlot',
    title: 'For a slot',
    width: 100,
    align: 'end',
    cell: ({ forSlot }) => <Count value={forSlot} />,
    sortValue: ({ forSlot }) => forSlot,
  },
  { id: 'held', title: 'Held', width: 80, align: 'end', cell: ({ held }) => <Count value={held} />, sortValue: ({ held }) => held },
  {
    id: 'parked',
    title: 'Parked',
    width: 80,
    align: 'end',
    cell: ({ parked }) => <Count value={parked} />,
    sortValue: ({ parked }) => parked,
  },
  {
    id: 'oldest',
    title: 'Oldest',
    width: 90,
    align: 'end',
    onNarrow: 'line',
    cell: ({ oldestWaitingAgeMs }) => <Duration ms={oldestWaitingAgeMs} />,
    sortValue: ({ oldestWaitingAgeMs }) => oldestWaitingAgeMs,
  },
  {
    id: 'active',
    title: 'Running',
    width: 90,
    align: 'end',
    cell: ({ active }) => <Count value={active} />,
    sortValue: ({ active }) => active,
  },
  {
    id: 'failed',
    title: 'Failed',
    width: 90,
    align: 'end',
    cell: ({ failed }) => <Count value={failed} />,
    sortValue: ({ failed }) => failed,
  },
  {
    id: 'workers',
    title: 'Workers',
    width: 90,
    align: 'end',
    cell: ({ workers }) => <Count value={workers} />,
    sortValue: ({ workers }) => workers,
  },
  { id: 'slots', title: 'Slots', width: 80, align: 'end', cell: ({ slots }) => <Count value={slots} />, sortValue: ({ slots }) => slots },
  { id: 'action', title: 'Action', width: 100, onNarrow: 'line', cell: (queue) => <Switch {...queue} /> },
];

/** Tasks wait where nobody serves them; parked ones wait for others. */
const isUnserved = ({ workers, waiting, parked }: Queue): boolean => workers === 0 && waiting > parked;

function stateOf(queue: Queue): string {
  if (queue.paused) return 'paused';
  return isUnserved(queue) ? 'unserved' : 'open';
}

function State(queue: Queue): ReactElement {
  const state = stateOf(queue);
  return <ToneBadge tone={state === 'open' ? 'good' : state === 'paused' ? 'warn' : 'bad'}>{state}</ToneBadge>;
}

function Switch({ name, paused }: Queue): ReactElement {
  if (paused) {
    return (
      <ActionButton
        needs="operate"
        size="compact-xs"
        text="Resume"
        run={() => switchQueue(name, false)}
        done={`The queue ${name} is resumed`}
        refresh={[QUEUES_KEY]}
      />
    );
  }
  return (
    <ActionButton
      needs="operate"
      size="compact-xs"
      text="Pause"
      run={() => switchQueue(name, true)}
      undo={() => switchQueue(name, false)}
      done={`The queue ${name} is paused`}
      refresh={[QUEUES_KEY]}
      confirm={{ title: `Pause ${name}?`, text: 'Tasks that run go on. Others wait until it is resumed.', button: 'Pause' }}
    />
  );
}

const queuePath = ({ name }: Queue): string => `/queues?queue=${encodeURIComponent(name)}`;

/** The queues of the fleet, and the queue whose name is in the address. */
export function Page(): ReactElement {
  const { values } = useFilters(FILTERS);
  const query = useLiveQuery({
    queryKey: QUEUES_KEY,
    queryFn: ({ signal }) => itemsOf(api.GET('/v1/queues', { signal })),
    kinds: [],
    everyMs: POLL_MS,
  });
  return (
    <PageFrame title="Queues">
      <QueryView query={query} title="The queues could not be read">
        {(queues) => (
          <>
            <Totals queues={queues} />
            <DataTable
              name="queues"
              label="Queues"
              rows={queues}
              rowId={({ name }) => name}
              columns={COLUMNS}
              href={queuePath}
              tone={(queue) => (isUnserved(queue) ? 'bad' : queue.paused ? 'warn' : null)}
              whenEmpty="No queue."
            />
          </>
        )}
      </QueryView>
      <OneQueue name={values.queue} />
    </PageFrame>
  );
}

function Totals({ queues }: { queues: readonly Queue[] }): ReactElement {
  // What waits here is what Now counts, of all tenants.
  const total = (read: (queue: Queue) => number): number =>
    queues.filter(({ carriesTasks }) => carriesTasks).reduce((sum, queue) => sum + read(queue), 0);
  const parts = [
    [total(({ forSlot }) => forSlot), 'for a slot'],
    [total(({ held }) => held), 'held'],
    [total(({ parked }) => parked), 'parked'],
  ] as const;
  const oldest = Math.max(...queues.map(({ oldestWaitingAgeMs }) => oldestWaitingAgeMs ?? 0));
  const unserved = queues.filter(isUnserved).length;
  const paused = queues.filter((queue) => queue.paused).length;
  return (
    <StatRow>
      <Stat
        label="Waiting"
        value={<Count value={total(({ waiting }) => waiting)} />}
        hint={parts.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : [])).join(', ')}
      />
      <Stat label="Oldest waits" value={oldest === 0 ? '–' : <Duration ms={oldest} />} />
      <Stat label="Running" value={<Count value={total(({ active }) => active)} />} />
      <Stat label="Paused" value={<Count value={paused} />} {...(paused > 0 ? { tone: 'warn' as const } : {})} />
      <Stat label="Without a worker" value={<Count value={unserved} />} {...(unserved > 0 ? { tone: 'bad' as const } : {})} />
    </StatRow>
  );
}
