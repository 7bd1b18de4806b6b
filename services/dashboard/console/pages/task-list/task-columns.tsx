import { createContext, useContext, type ReactElement } from 'react';
import type { Task } from '#shared/client/openapi.gen.ts';
import { Money, Tokens } from '../../parts/numbers.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import type { Column } from '../../parts/table/column.ts';
import { gateText } from '#shared/errors/gates.ts';
import { Age, ClockTime, durationText, Elapsed, useNow } from '../../parts/time.tsx';
import { isUnusual } from '../../parts/text/unusual.ts';
import { PageLink } from '../../routing/navigation.tsx';
import { sessionPath } from '../../routing/paths.ts';
import classes from './task-list.module.css';

/** How long agents usually run, by their names; null where nobody knows. */
export type UsualMs = ReadonlyMap<string, number | null>;
/** For the cells: rows stay the same objects when this changes. */
export const UsualTimes = createContext<UsualMs>(new Map());

/** Whether a task runs for much longer than its agent usually does. */
export function runsLong({ status, startedAt, agent }: Task, usual: UsualMs, now: number): boolean {
  return status === 'running' && Boolean(startedAt) && isUnusual(now - Date.parse(startedAt ?? ''), usual.get(agent));
}

const EXCERPT_CHARACTERS = 200;

/** The columns of a list of tasks. */
export const TASK_COLUMNS: readonly Column<Task>[] = [
  {
    id: 'input',
    title: 'Input',
    onNarrow: 'first',
    cell: ({ input }) => <span title={input.slice(0, EXCERPT_CHARACTERS)}>{excerpt(input)}</span>,
  },
  { id: 'status', title: 'Status', width: 158, onNarrow: 'line', cell: ({ status }) => <StatusBadge status={status} /> },
  { id: 'agent', title: 'Agent', width: 104, onNarrow: 'line', cell: ({ agent }) => <span title={agent}>{agent}</span> },
  { id: 'session', title: 'Session', width: 108, cell: ({ session }) => <SessionLink session={session} /> },
  { id: 'age', title: 'Accepted', width: 100, onNarrow: 'line', cell: ({ createdAt }) => <Age at={createdAt} of="accepted" /> },
  {
    id: 'duration',
    title: 'Ran for',
    width: 76,
    align: 'end',
    cell: ranFor,
  },
  { id: 'attempts', title: 'Attempts', width: 76, align: 'end', cell: attemptsOf },
  { id: 'error', title: 'Why', width: 148, onNarrow: 'line', cell: (task) => <Why task={task} /> },
  { id: 'tokens', title: 'Tokens', width: 70, align: 'end', cell: ({ usage }) => <Tokens usage={usage} /> },
  { id: 'cost', title: 'Cost', width: 76, align: 'end', cell: ({ usage }) => (usage ? <Money {...costOf(usage)} /> : <>–</>) },
  { id: 'source', title: 'Source', width: 90, isOptional: true, cell: ({ source }) => source },
  { id: 'queue', title: 'Queue', width: 90, isOptional: true, cell: ({ queue }) => queue },
  { id: 'priority', title: 'Priority', width: 70, align: 'end', isOptional: true, cell: ({ priority }) => priority },
  { id: 'worker', title: 'Worker', width: 150, isOptional: true, cell: ({ worker }) => <span title={worker ?? undefined}>{worker}</span> },
  {
    id: 'ended',
    title: 'Ended',
    width: 160,
    isOptional: true,
    cell: ({ completedAt }) => (completedAt ? <ClockTime at={completedAt} of="ended" /> : null),
  },
  {
    id: 'correlation',
    title: 'Correlation',
    width: 130,
    isOptional: true,
    cell: ({ correlationId }) => <span title={correlationId ?? undefined}>{correlationId}</span>,
  },
  { id: 'schedule', title: 'Schedule', width: 130, isOptional: true, cell: ({ scheduleId }) => scheduleId },
  { id: 'id', title: 'Id', width: 230, isOptional: true, cell: ({ id }) => <code>{id}</code> },
];

function excerpt(input: string): string {
  return input.slice(0, EXCERPT_CHARACTERS).replaceAll(/\s+/g, ' ').trim() || '(no text)';
}

/** Why it has not started, still runs, or failed. */
function Why({ task }: { task: Task }): ReactElement | null {
  const { agent, error, gate } = task;
  const usual = useContext(UsualTimes);
  const now = useNow();
  if (runsLong(task, usual, now)) return <span className={classes['long']}>usually {durationText(usual.get(agent) ?? 0)}</span>;
  if (gate) {
    const text = `for ${gateText(gate)}`;
    return <span title={error ? `${text}; ${error.message}` : text}>{text}</span>;
  }
  return error ? <span title={error.message}>{error.code}</span> : null;
}

function SessionLink({ session }: { session: string | null | undefined }): ReactElement | null {
  if (!session) return null;
  return (
    <PageLink href={sessionPath(session)} title={session}>
      {session}
    </PageLink>
  );
}

/** The time of the attempt that runs, or of the last one. */
function ranFor({ status, startedAt, completedAt }: Task): ReactElement {
  return <Elapsed from={status === 'running' || completedAt ? startedAt : null} to={completedAt} />;
}

/** `2 of 3`; a task that a person retried has had more than one set of them. */
function attemptsOf({ attempt, execution }: Task): string {
  if (attempt === 0) return '–';
  return execution && attempt <= execution.maxAttempts ? `${attempt} of ${execution.maxAttempts}` : String(attempt);
}

function costOf({ costMicroUsd, isEstimated }: NonNullable<Task['usage']>): {
  microUsd: number | null;
  isEstimated: boolean | undefined;
} {
  return { microUsd: costMicroUsd, isEstimated };
}
