import { Skeleton, Title } from '@mantine/core';
import { useDeferredValue, type ReactElement } from 'react';
import { isTerminal } from '#shared/tasks/transitions.ts';
import type { Attempt, JournalEntry, TaskError, TaskWithProgress, Why } from '#shared/client/openapi.gen.ts';
import { ApiProblem } from '../../api/api-problem.ts';
import { usePerson } from '../../api/person.ts';
import type { TaskRef } from '../../api/task-ref.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { Sentence } from '../../parts/text/sentence.tsx';
import { ClockTime } from '../../parts/time.tsx';
import { PageLink, useSearchParameter } from '../../routing/navigation.tsx';
import type { PageProps } from '../../routing/page-props.ts';
import { TaskFacts } from './task-facts.tsx';
import { TaskDeliveries } from './task-deliveries.tsx';
import { TaskFiles } from './task-files.tsx';
import { TaskGantt } from './timeline/task-gantt.tsx';
import { TaskHead } from './task-head.tsx';
import { AttemptList, Diagnostics, LogList } from './task-history.tsx';
import { TaskQuestions } from './task-questions.tsx';
import { TaskJournal } from './task-journal.tsx';
import { TaskInput, TaskOutput, TaskTexts } from './task-texts.tsx';
import { TaskTree } from './task-tree.tsx';
import { TaskUsage } from './task-usage.tsx';
import classes from './tasks.module.css';
import { WaitNote } from './wait-note.tsx';
import type { WrittenOutput } from './task-stream.ts';
import { useTask, type LiveTask } from './use-task.ts';

/** The page of the task that the address names. The board's links name the tenant in `?tenant=`, also the person's own. */
export function Page({ params }: PageProps): ReactElement {
  const named = useSearchParameter('tenant');
  const { data: person } = usePerson();
  const id = params['id'] ?? '';
  if (named !== null && person === undefined) return <div className="page" />;
  const tenant = named === null || named === person?.tenant ? null : named;
  return <TaskPage key={id} taskRef={{ id, tenant }} />;
}

/** The live page of one task. */
function TaskPage({ taskRef }: { taskRef: TaskRef }): ReactElement {
  const live = useTask(taskRef);
  const { parts, error } = live;
  // All of it at once takes longer than a frame.
  const isOpen = useDeferredValue(parts !== undefined, false);
  if (parts === undefined && error instanceof ApiProblem && error.status === 404) return <UnknownTask />;
  return (
    <div className={`page ${classes['sheet']}`}>
      {error === null || parts !== undefined ? null : (
        <ProblemNote title="The task could not be read" error={error} onRetry={live.refresh} />
      )}
      {!isOpen || parts === undefined ? (
        error === null && <Skeleton height={320} radius="lg" />
      ) : (
        <TaskView taskRef={taskRef} live={live} />
      )}
    </div>
  );
}

function UnknownTask(): ReactElement {
  return (
    <div className="page">
      <Title order={1} size="h2">
        There is no such task
      </Title>
      <p>It is not kept any more, it belongs to another tenant, or the address is wrong.</p>
      <PageLink href="/tasks">To all tasks</PageLink>
    </div>
  );
}

function TaskView({ taskRef, live }: { taskRef: TaskRef; live: LiveTask }): ReactElement | null {
  const { parts, written, isLive, refresh } = live;
  if (parts === undefined) return null;
  const { task, attempts, steps, journal, log, artifacts, why } = parts;
  const error = errorToShow(task, why);
  return (
    <>
      <TaskHead taskRef={taskRef} task={task} why={why} isLive={isLive} onChanged={refresh} />
      {live.error === null ? null : <ProblemNote title="This may be out of date" error={live.error} onRetry={refresh} />}
      {why.reasons.length > 0 && !isTerminal(task.status) ? <WaitNote why={why} taskRef={taskRef} event={awaitedEvent(journal)} /> : null}
      {journal.some(({ kind }) => kind === 'question') ? <TaskQuestions taskRef={taskRef} /> : null}
      {error ? <ErrorNote error={error} task={task} attempts={attempts} isCalm={goesOn(task, why)} /> : null}
      <TaskTexts task={task} written={written} hasOutput={journal.length === 0} />
      <RunColumns task={task} written={written} journal={journal} taskRef={taskRef} />
      <TaskFiles taskRef={taskRef} task={task} artifacts={artifacts} />
      {task.status === 'running' ? <TaskInput taskRef={taskRef} onSent={refresh} /> : null}
      {log.length > 0 ? <LogList entries={log} /> : null}
      {attempts.length > 0 ? <AttemptList attempts={attempts} isLastExplained={error !== null} /> : null}
      <TaskGantt steps={steps} attempts={attempts} reasons={why.reasons} />
      <TaskTree task={task} taskRef={taskRef} />
      <TaskDeliveries task={task} taskRef={taskRef} />
      <TaskUsage usage={task.usage} />
      <TaskFacts task={task} taskRef={taskRef} />
    </>
  );
}

interface RunColumnsProps {
  task: TaskWithProgress;
  written: WrittenOutput;
  journal: readonly JournalEntry[];
  taskRef: TaskRef;
}

/** What the run did, with what it wrote beside; nothing for one without a journal. */
function RunColumns({ task, written, journal, taskRef }: RunColumnsProps): ReactElement | null {
  if (journal.length === 0) return null;
  return (
    <div className={classes['columns']}>
      <TaskJournal entries={journal} taskRef={taskRef} isEnded={isTerminal(task.status)} />
      <div className={classes['beside']}>
        <TaskOutput task={task} written={written} />
      </div>
    </div>
  );
}

/** The event that its run waits for. */
function awaitedEvent(journal: readonly JournalEntry[]): string | null {
  return journal.find(({ kind, status }) => kind === 'event' && status === 'waiting')?.name ?? null;
}

/** The error of the last attempt. One that was cut off because it has to wait says the same as the note about that. */
function errorToShow({ error }: TaskWithProgress, { reasons }: Why): TaskError | null {
  return reasons.some(({ detail }) => detail === error?.message) ? null : (error ?? null);
}

/** Whether it only waits at a gate, as a circuit: what its last attempt ended with is no failure of the task. */
function goesOn({ status }: TaskWithProgress, { reasons }: Why): boolean {
  return reasons.length > 0 && !isTerminal(status) && status !== 'failed' && status !== 'timeout';
}

interface NextAttemptProps {
  error: TaskError;
  task: TaskWithProgress;
  attempts: readonly Attempt[];
}

interface ErrorNoteProps extends NextAttemptProps {
  isCalm: boolean;
}

/** Why the last attempt failed, and whether another follows. */
function ErrorNote({ error, task, attempts, isCalm }: ErrorNoteProps): ReactElement {
  return (
    <section className={`card ${classes[isCalm ? 'ended' : 'failed']}`}>
      <h2>{isCalm ? `The last attempt ended with ${error.code}` : error.code}</h2>
      <p className={classes['words']}>
        <Sentence text={error.message} />
      </p>
      <NextAttempt error={error} task={task} attempts={attempts} />
      <Diagnostics details={error.details} />
    </section>
  );
}

function NextAttempt({ error, task, attempts }: NextAttemptProps): ReactElement | null {
  const { status, retryAt } = task;
  if (retryAt && (status === 'failed' || status === 'timeout')) {
    return (
      <p className="faint">
        It is tried again at <ClockTime at={retryAt} withDay={false} />.
      </p>
    );
  }
  if (status !== 'permanently_failed') return null;
  // No attempt follows a permanent failure: its kind is not retryable, or no attempt is left.
  const max = task.execution?.maxAttempts;
  const failed = attempts.filter(({ status: ending }) => ending === 'failed' || ending === 'timeout').length;
  const spent = max === undefined ? 'No attempt is left.' : `No attempt is left: ${failed} of ${max} failed.`;
  return <p className="faint">{error.retryable ? spent : 'A failure of this kind is not tried again.'}</p>;
}
