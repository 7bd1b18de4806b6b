import type { ReactElement } from 'react';
import type { SessionSummary } from '#shared/client/openapi.gen.ts';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { Age, Elapsed } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import { originText } from './origin-text.ts';

/** The name, with the surface's own id as a hint. */
function Who({ task }: { task: SessionSummary['lastTask'] }): ReactElement | null {
  if (!task?.user) return null;
  return <span title={task.user}>{task.userName ?? task.user}</span>;
}

export const SESSION_COLUMNS: readonly Column<SessionSummary>[] = [
  { id: 'id', title: 'Session', width: 220, cell: ({ id }) => id, onNarrow: 'first' },
  { id: 'origin', title: 'From', width: 90, cell: (session) => originText(session), onNarrow: 'line' },
  { id: 'who', title: 'Who', width: 110, onNarrow: 'line', cell: ({ lastTask }) => <Who task={lastTask} /> },
  { id: 'last', title: 'Last message', cell: ({ lastTask }) => lastTask?.text ?? '', onNarrow: 'line' },
  { id: 'agent', title: 'Agent', width: 120, cell: ({ lastTask }) => lastTask?.agent ?? '' },
  {
    id: 'outcome',
    title: 'Outcome',
    width: 150,
    cell: ({ lastTask }) => (lastTask ? <StatusBadge status={lastTask.status} /> : null),
    onNarrow: 'line',
  },
  {
    id: 'holder',
    title: 'Runs',
    width: 90,
    cell: ({ holder }) =>
      holder ? (
        <PageLink href={taskPath({ id: holder.taskId, tenant: null })}>
          {holder.startedAt ? <Elapsed from={holder.startedAt} /> : 'waits'}
        </PageLink>
      ) : (
        ''
      ),
  },
  { id: 'waiting', title: 'Waiting', width: 70, align: 'end', cell: ({ waitingTotal }) => (waitingTotal === 0 ? '' : waitingTotal) },
  { id: 'mode', title: 'Mode', width: 90, isOptional: true, cell: ({ mode }) => mode },
  {
    id: 'activity',
    title: 'Last activity',
    width: 110,
    align: 'end',
    cell: ({ lastTask }) => (lastTask ? <Age at={lastTask.createdAt} of="last message accepted" /> : ''),
    onNarrow: 'line',
  },
];
