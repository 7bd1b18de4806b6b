import { Skeleton } from '@mantine/core';
import type { ReactElement } from 'react';
import { isTerminal } from '#shared/tasks/transitions.ts';
import { ApiProblem } from '../api/api-problem.ts';
import type { TaskPlace, TaskRecord } from '../api/tasks.ts';
import { ProblemNote } from '../parts/problem-note.tsx';
import { AttemptList } from './attempt-list.tsx';
import { ErrorNote } from './error-note.tsx';
import { LogList } from './log-list.tsx';
import { TaskHead } from './task-head.tsx';
import { TaskFacts } from './task-facts.tsx';
import { TaskInput } from './task-input.tsx';
import { TaskOutput, TextCard } from './task-output.tsx';
import classes from './tasks.module.css';
import { Timeline } from './timeline.tsx';
import { useTask, type LiveTask } from './use-task.ts';
import { WaitNote } from './wait-note.tsx';
import type { WrittenOutput } from './written-output.ts';

/** Everything about one task, as it happens, and what one can do about it. */
export function TaskPage({ place }: { place: TaskPlace }): ReactElement {
  const live = useTask(place);
  const { parts, error } = live;
  const isUnknown = error instanceof ApiProblem && error.status === 404;
  return (
    <div className={`page ${classes['sheet']}`}>
      {error === null || parts !== undefined ? null : (
        <ProblemNote
          title={isUnknown ? 'There is no such task' : 'The task could not be read'}
          error={isUnknown ? new Error('It is not kept any more, it belongs to another tenant, or the address is wrong.') : error}
          {...(isUnknown ? {} : { onRetry: live.lookAgain })}
        />
      )}
      {parts === undefined ? error === null && <Skeleton height={320} radius="lg" /> : <TaskView place={place} live={live} />}
    </div>
  );
}

function TaskView({ place, live }: { place: TaskPlace; live: LiveTask }): ReactElement | null {
  const { parts, written, isLive, lookAgain } = live;
  if (parts === undefined) return null;
  const { task, attempts, steps, log, why } = parts;
  return (
    <>
      <TaskHead place={place} task={task} isLive={isLive} onChanged={lookAgain} />
      {live.error === null ? null : <ProblemNote title="This may be out of date" error={live.error} onRetry={lookAgain} />}
      {why.reasons.length > 0 && !isTerminal(task.status) ? <WaitNote why={why} place={place} /> : null}
      {task.error ? <ErrorNote error={task.error} task={task} attempts={attempts} /> : null}
      <Texts task={task} written={written} />
      {task.status === 'running' ? <TaskInput place={place} onSent={lookAgain} /> : null}
      {log.length > 0 ? <LogList entries={log} /> : null}
      {attempts.length > 0 ? <AttemptList attempts={attempts} isLastExplained={Boolean(task.error)} /> : null}
      <div className={classes['columns']}>
        <Timeline steps={steps} />
        <TaskFacts task={task} place={place} />
      </div>
    </>
  );
}

/** What went in and what came out. */
function Texts({ task, written }: { task: TaskRecord; written: WrittenOutput }): ReactElement {
  const hasResult = task.result !== null && task.result !== undefined;
  return (
    <div className={classes['columns']}>
      <TextCard title="Input" text={task.input} />
      <TaskOutput task={task} written={written} />
      {hasResult ? <TextCard title="Result" text={JSON.stringify(task.result, null, 2)} /> : null}
    </div>
  );
}
