import type { ReactElement, ReactNode } from 'react';
import type { TaskWithProgress } from '#shared/client/openapi.gen.ts';
import type { TaskRef } from '../../api/task-ref.ts';
import { CopyId } from '../../parts/copy.tsx';
import { ClockTime } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { hookPath, sessionPath, taskPath } from '../../routing/paths.ts';
import classes from './tasks.module.css';

/** The other fields of a task's record, without absent fields. */
export function TaskFacts({ task, taskRef }: { task: TaskWithProgress; taskRef: TaskRef }): ReactElement {
  const facts = [...origin(task, taskRef), ...course(task, taskRef), ...times(task)];
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

function origin(task: TaskWithProgress, taskRef: TaskRef): Fact[] {
  return [
    ['Tenant', task.tenant],
    ['Source', task.channel ? `${task.source} · ${task.channel}` : task.source],
    ['Session', task.session ? <SessionLink session={task.session} isOwn={taskRef.tenant === null} /> : null],
    ['Parent', task.parentTaskId ? <TaskLink id={task.parentTaskId} taskRef={taskRef} /> : null],
    ['Correlation', task.correlationId ?? null],
    ['Schedule', task.scheduleId ? <ScheduleLink id={task.scheduleId} isOwn={taskRef.tenant === null} /> : null],
    ['Hook', task.trigger === 'hook' && task.sourceId ? <HookLink id={task.sourceId} isOwn={taskRef.tenant === null} /> : null],
    ['Made by', task.trigger ?? null],
    ['Trace', task.traceId ? <TraceLink id={task.traceId} url={task.traceUrl} /> : null],
  ];
}

function course(task: TaskWithProgress, taskRef: TaskRef): Fact[] {
  const { execution, outcome } = task;
  return [
    ['Queue', task.queue],
    ['Priority', task.priority],
    ['Attempts', execution ? `${task.attempt} of ${execution.maxAttempts} at most` : task.attempt],
    ['Worker', task.worker ?? null],
    ['Release', task.release ?? null],
    ['Outcome', outcome ? [outcome.kind, outcome.reason].filter(Boolean).join(': ') : null],
    ['Went into', outcome?.taskId ? <TaskLink id={outcome.taskId} taskRef={taskRef} /> : null],
    ['Interrupted', task.interruptions > 0 ? `${task.interruptions} in a row, by workers that shut down` : null],
    ['Preempted by', task.preemptedBy ? <TaskLink id={task.preemptedBy} taskRef={taskRef} /> : null],
  ];
}

function times(task: TaskWithProgress): Fact[] {
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

/** The console shows only conversations of the person's own tenant. */
function SessionLink({ session, isOwn }: { session: string; isOwn: boolean }): ReactElement {
  return isOwn ? <PageLink href={sessionPath(session)}>{session}</PageLink> : <>{session}</>;
}

/** Where the operator says what shows traces, the id leads there. */
function TraceLink({ id, url }: { id: string; url: string | null | undefined }): ReactElement {
  if (!url) return <CopyId id={id} />;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      <code>{id}</code>
    </a>
  );
}

function ScheduleLink({ id, isOwn }: { id: string; isOwn: boolean }): ReactElement {
  return isOwn ? <PageLink href={`/schedules?open=${encodeURIComponent(id)}`}>{id}</PageLink> : <>{id}</>;
}

function HookLink({ id, isOwn }: { id: string; isOwn: boolean }): ReactElement {
  return isOwn ? <PageLink href={hookPath(id)}>{id}</PageLink> : <>{id}</>;
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
