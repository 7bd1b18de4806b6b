import type { ReactElement, ReactNode } from 'react';
import type { TaskRef } from '../../api/records.ts';
import type { TaskRecord } from '../../api/tasks.ts';
import { ClockTime } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { sessionPath, taskPath } from '../../routing/paths.ts';
import classes from './tasks.module.css';

const MICRO_PER_USD = 1_000_000;

/** The other fields of a task's record, without absent fields. */
export function TaskFacts({ task, taskRef }: { task: TaskRecord; taskRef: TaskRef }): ReactElement {
  const facts = [...origin(task, taskRef), ...course(task, taskRef), ...times(task), ...data(task)];
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

function origin(task: TaskRecord, taskRef: TaskRef): Fact[] {
  return [
    ['Tenant', task.tenant],
    ['Source', task.channel ? `${task.source} · ${task.channel}` : task.source],
    ['Session', task.session ? <SessionLink session={task.session} isOwn={taskRef.tenant === null} /> : null],
    ['Parent', task.parentTaskId ? <TaskLink id={task.parentTaskId} taskRef={taskRef} /> : null],
    ['Correlation', task.correlationId ?? null],
  ];
}

function course(task: TaskRecord, taskRef: TaskRef): Fact[] {
  const { execution, outcome } = task;
  return [
    ['Queue', task.queue],
    ['Priority', task.priority],
    ['Attempts', execution ? `${task.attempt} of at most ${execution.maxAttempts}` : task.attempt],
    ['Worker', task.worker ?? null],
    ['Outcome', outcome ? [outcome.kind, outcome.reason].filter(Boolean).join(': ') : null],
    ['Went into', outcome?.taskId ? <TaskLink id={outcome.taskId} taskRef={taskRef} /> : null],
    ['Preempted by', task.preemptedBy ? <TaskLink id={task.preemptedBy} taskRef={taskRef} /> : null],
    ['Tokens', task.usage ? usageText(task.usage) : null],
  ];
}

function times(task: TaskRecord): Fact[] {
  return [
    ['Deadline', timeOf(task.deadline)],
    ['SLA', timeOf(task.sla)],
    ['Breached', task.slaBreached ? 'its SLA passed before its end' : null],
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

/** The console shows only conversations of the person's own tenant. */
function SessionLink({ session, isOwn }: { session: string; isOwn: boolean }): ReactElement {
  return isOwn ? <PageLink href={sessionPath(session)}>{session}</PageLink> : <>{session}</>;
}

function TaskLink({ id, taskRef }: { id: string; taskRef: TaskRef }): ReactElement {
  return (
    <PageLink href={taskPath({ id, tenant: taskRef.tenant })}>
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
  const cost = costMicroUsd !== null && costMicroUsd > 0 ? ` · $${(costMicroUsd / MICRO_PER_USD).toFixed(4)}` : '';
  return `${inputTokens} in, ${outputTokens} out${cost}`;
}
