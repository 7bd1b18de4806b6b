import { memo, type ReactElement } from 'react';
import type { Now, Task } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { toTask } from '../../api/task-ref.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { Count } from '../../parts/numbers.tsx';
import { gateText } from '#shared/errors/gates.ts';
import { Age, durationText } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import classes from './overview.module.css';

/** How many tasks wait for what, and the newest of them; runs that are suspended are none of these. */
export function WaitingPanel({ now: { waiting }, tasks }: { now: Now; tasks: readonly Task[] }): ReactElement {
  return (
    <Panel title="Waiting" actions={tasks.length > 0 ? <PageLink href="/tasks?status=pending,queued">All</PageLink> : undefined}>
      {waiting.length === 0 && tasks.length === 0 ? <p className="faint">No task waits to start.</p> : null}
      <ul className={classes['gates']} aria-label="Waiting by reason">
        {waiting.map(({ gate, count, oldestMs }) => (
          <li key={gate}>
            <strong>
              <Count value={count} />
            </strong>{' '}
            for {gateText(gate)}
            {typeof oldestMs === 'number' ? <span className="faint"> · the first for {durationText(oldestMs)}</span> : null}
          </li>
        ))}
      </ul>
      <ul className={classes['rows']} aria-label="Waiting">
        {tasks.map((task) => (
          <WaitingRow key={task.id} task={task} />
        ))}
      </ul>
    </Panel>
  );
}

/** Rendered again only when its task changes, not with each reading. */
const WaitingRow = memo(function WaitingRow({ task: { id, agent, input, gate, createdAt } }: { task: Task }): ReactElement {
  return (
    <li className={classes['row']}>
      <span className={classes['name']}>
        <PageLink href={taskPath({ id, tenant: null })}>{agent}</PageLink>
      </span>
      <span className={classes['text']}>
        <span className={classes['excerpt']}>{input}</span>
        {gate ? <span className={`faint ${classes['excerpt']}`}>waits for {gateText(gate)}</span> : null}
      </span>
      <span className={classes['time']}>
        <Age at={createdAt} of="accepted" />
      </span>
      <ActionButton
        needs="submit"
        text="Cancel"
        size="compact-xs"
        run={() => answerOf(api.POST('/v1/tasks/{id}/cancel', toTask({ id, tenant: null })))}
        done="The task is cancelled"
        refresh={[['now']]}
      />
    </li>
  );
});
