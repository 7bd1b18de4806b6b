import { memo, type ReactElement } from 'react';
import type { Task } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { toTask } from '../../api/task-ref.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Age } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import classes from './overview.module.css';

/** When a task failed for good, or else was accepted. */
const timeOf = ({ completedAt, createdAt }: Task): number => Date.parse(completedAt ?? createdAt);

/** The newest tasks that failed, also those that are tried again by themselves. */
export function FailedPanel({ tasks }: { tasks: readonly Task[] }): ReactElement {
  // They are read in the order of their acceptance.
  const sorted = tasks.toSorted((one, other) => timeOf(other) - timeOf(one));
  return (
    <Panel title="Failed lately" actions={tasks.length > 0 ? <PageLink href="/failures">By error</PageLink> : undefined}>
      {tasks.length === 0 ? <p className="faint">Nothing failed.</p> : null}
      <ul className={classes['rows']} aria-label="Failed lately">
        {sorted.map((task) => (
          <FailedRow key={task.id} task={task} />
        ))}
      </ul>
    </Panel>
  );
}

/** Rendered again only when its task changes, not with each reading. */
const FailedRow = memo(function FailedRow({ task }: { task: Task }): ReactElement {
  const { id, agent, status, error, completedAt, createdAt } = task;
  return (
    <li className={classes['row']}>
      <span className={classes['name']}>
        <PageLink href={taskPath({ id, tenant: null })}>{agent}</PageLink>
      </span>
      <span className={classes['text']}>
        <span className={classes['excerpt']}>
          <strong>{error?.code}</strong> {error?.message}
        </span>
        {status === 'permanently_failed' ? null : <StatusBadge status={status} />}
      </span>
      <span className={classes['time']}>
        <Age at={completedAt ?? createdAt} of={completedAt ? 'ended' : 'accepted'} />
      </span>
      <ActionButton
        needs="submit"
        text={status === 'permanently_failed' ? 'Retry' : 'Retry now'}
        size="compact-xs"
        run={() => answerOf(api.POST('/v1/tasks/{id}/retry', toTask({ id, tenant: null })))}
        done="The task runs again"
        refresh={[['now']]}
      />
    </li>
  );
});
