import type { ReactElement } from 'react';
import { durationText } from '../parts/duration-text.ts';
import type { TaskPlace, Why } from '../api/tasks.ts';
import { ClockTime } from '../parts/time.tsx';
import { PageLink } from '../routing/page-link.tsx';
import { taskPath } from './task-path.ts';
import classes from './tasks.module.css';

/** Why a task has not begun. */
export function WaitNote({ why, place }: { why: Why; place: TaskPlace }): ReactElement {
  const { reasons, estimatedStartMs } = why;
  return (
    <section className={`card ${classes['waits']}`}>
      <h2>Why it waits</h2>
      <ul className={classes['reasons']}>
        {reasons.map((reason) => (
          <li key={`${reason.gate}/${reason.detail}`}>
            <Reason reason={reason} place={place} />
          </li>
        ))}
      </ul>
      {typeof estimatedStartMs === 'number' ? (
        <span className="faint">It should start in about {durationText(estimatedStartMs)}.</span>
      ) : null}
    </section>
  );
}

/** The task that has to go first is named in the sentence, and a click away. */
function Reason({ reason, place }: { reason: Why['reasons'][number]; place: TaskPlace }): ReactElement {
  const { detail, taskId, until } = reason;
  const at = taskId ? detail.indexOf(taskId) : -1;
  return (
    <>
      {taskId && at >= 0 ? (
        <>
          {detail.slice(0, at)}
          <PageLink href={taskPath({ id: taskId, tenant: place.tenant })}>{taskId}</PageLink>
          {detail.slice(at + taskId.length)}
        </>
      ) : (
        detail
      )}
      {until ? (
        <span className="faint">
          {' '}
          (until <ClockTime at={until} />)
        </span>
      ) : null}
    </>
  );
}
