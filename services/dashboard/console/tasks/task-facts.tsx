import type { ReactElement, ReactNode } from 'react';
import type { TaskPlace, TaskRecord } from '../api/tasks.ts';
import { ClockTime } from '../parts/time.tsx';
import { PageLink } from '../routing/page-link.tsx';
import { sessionPath } from '../routing/page-of-path.ts';
import { taskPath } from './task-path.ts';
import classes from './tasks.module.css';

const MICRO_PER_USD = 1_000_000;

/** The rest of a task's record, what is absent left out. */
export function TaskFacts({ task, place }: { task: TaskRecord; place: TaskPlace }): ReactElement {
  const facts = [...origin(task, place), ...course(task, place), ...times(task), ...data(task)];
  return (
    <section className="card">
      <h2>Record</h2>
      <dl className={classes['facts']}>
        {facts
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name}>
              <dt className="faint">{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

type Fact = [name: string, value: ReactNode];

function origin(task: TaskRecord, place: TaskPlace): Fact[] {
  return [
    ['Tenant', task.tenant],
    ['Source', task.channel ? `${task.source} · ${task.channel}` : task.source],
    ['Session', task.session ? <SessionLink session={task.session} isOwn={place.tenant === null} /> : null],
    ['Parent', task.parentTaskId ? <TaskLink id={task.parentTaskId} place={place} /> : null],
    ['Correlation', task.correlationId ?? null],
  ];
}

function course(task: TaskRecord, place: TaskPlace): Fact[] {
  const { execution, outcome } = task;
  return [
    ['Queue', task.queue],
    ['Priority', task.priority],
    ['Attempts', execution ? `${task.attempt} of at most ${execution.maxAttempts}` : task.attempt],
    ['Worker', task.worker ?? null],
    ['Outcome', outcome ? [outcome.kind, outcome.reason].filter(Boolean).join(': ') : null],
    ['Went into', outcome?.taskId ? <TaskLink id={outcome.taskId} place={place} /> : null],
    ['Tokens', task.usage ? usageText(task.usage) : null],
  ];
}

function times(task: TaskRecord): Fact[] {
  return [
    ['Deadline', timeOf(task.deadline)],
    ['Scheduled for', timeOf(task.scheduledFor)],
    ['Created', timeOf(task.createdAt)],
    ['Started', timeOf(task.startedAt)],
    ['Completed', timeOf(task.completedAt)],
  ];
}

function data(task: TaskRecord): Fact[] {
  return [
    ['Context', jsonOf(task.context)],
    ['Metadata', jsonOf(task.metadata)],
  ];
}

/** The console shows conversations of one's own tenant only. */
function SessionLink({ session, isOwn }: { session: string; isOwn: boolean }): ReactElement {
  return isOwn ? <PageLink href={sessionPath(session)}>{session}</PageLink> : <>{session}</>;
}

function TaskLink({ id, place }: { id: string; place: TaskPlace }): ReactElement {
  return (
    <PageLink href={taskPath({ id, tenant: place.tenant })}>
      <code>{id}</code>
    </PageLink>
  );
}

function timeOf(at: string | null | undefined): ReactNode {
  return at ? <ClockTime at={at} /> : null;
}

function jsonOf(value: Record<string, unknown> | null | undefined): ReactNode {
  return value && Object.keys(value).length > 0 ? <pre>{JSON.stringify(value, null, 2)}</pre> : null;
}

function usageText({ inputTokens, outputTokens, costMicroUsd }: NonNullable<TaskRecord['usage']>): string {
  const cost = costMicroUsd > 0 ? ` · $${(costMicroUsd / MICRO_PER_USD).toFixed(4)}` : '';
  return `${inputTokens} in, ${outputTokens} out${cost}`;
}
