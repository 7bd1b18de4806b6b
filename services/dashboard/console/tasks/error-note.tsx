import type { ReactElement } from 'react';
import type { Attempt, TaskError, TaskRecord } from '../api/tasks.ts';
import { ClockTime } from '../parts/time.tsx';
import { Diagnostics } from './attempt-list.tsx';
import classes from './tasks.module.css';

export interface ErrorNoteProps {
  error: TaskError;
  task: TaskRecord;
  attempts: readonly Attempt[];
}

/** Why the last attempt failed, and what follows. */
export function ErrorNote({ error, task, attempts }: ErrorNoteProps): ReactElement {
  return (
    <section className={`card ${classes['failed']}`}>
      <h2>{error.code}</h2>
      <p className={classes['words']}>{error.message}</p>
      <Following error={error} task={task} attempts={attempts} />
      <Diagnostics details={error.details} />
    </section>
  );
}

function Following({ error, task, attempts }: ErrorNoteProps): ReactElement | null {
  const { status, retryAt } = task;
  if (retryAt && (status === 'failed' || status === 'timeout')) {
    return (
      <p className="faint">
        It is tried again at <ClockTime at={retryAt} withDay={false} />.
      </p>
    );
  }
  if (status !== 'permanently_failed') return null;
  // Of one that failed for good it says why no attempt followed: the kind of the failure, or their number.
  const max = task.execution?.maxAttempts;
  const failed = attempts.filter(({ status: ending }) => ending === 'failed' || ending === 'timeout').length;
  const spent = max === undefined ? 'No attempt is left.' : `No attempt is left: ${failed} of ${max} failed.`;
  return <p className="faint">{error.retryable ? spent : 'A failure of this kind is not tried again.'}</p>;
}
