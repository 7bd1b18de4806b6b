import { memo, type ReactElement } from 'react';
import type { Now } from '#shared/client/openapi.gen.ts';
import { answerOf, api } from '../../api/api.ts';
import { toTask } from '../../api/task-ref.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { durationText, useNow } from '../../parts/time.tsx';
import { isUnusual } from '../../parts/text/unusual.ts';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import classes from './overview.module.css';

type RunningTask = Now['running'][number];

/** The tasks that run, with the last line of what each has written. */
export function RunningPanel({ now: { running, runningTotal } }: { now: Now }): ReactElement {
  const more = runningTotal - running.length;
  return (
    <Panel title="Running" actions={more > 0 ? <PageLink href="/tasks?status=running">{more} more</PageLink> : undefined}>
      {running.length === 0 ? <p className="faint">Nothing runs at the moment.</p> : null}
      <ul className={classes['rows']} aria-label="Running">
        {running.map((task) => (
          <RunningRow key={task.id} task={task} />
        ))}
      </ul>
    </Panel>
  );
}

/** Rendered again only when its task changes, not with each reading. */
const RunningRow = memo(function RunningRow({ task }: { task: RunningTask }): ReactElement {
  const { id, agent, input, lastLine, progress, attempt } = task;
  const said = [typeof progress?.percent === 'number' ? `${Math.round(progress.percent)} %` : null, progress?.note ?? lastLine];
  const line = said.filter((part) => typeof part === 'string' && part !== '').join(' · ');
  return (
    <li className={classes['row']}>
      <span className={classes['name']}>
        <PageLink href={taskPath({ id, tenant: null })}>{agent}</PageLink>
        {attempt > 1 ? <span className={`faint ${classes['attempt']}`}> attempt {attempt}</span> : null}
      </span>
      <span className={classes['text']}>
        <span className={classes['excerpt']}>{input}</span>
        {line === '' ? null : <span className={`faint ${classes['excerpt']}`}>{line}</span>}
      </span>
      <ElapsedTime task={task} />
      <ActionButton
        needs="submit"
        text="Cancel"
        size="compact-xs"
        run={() => answerOf(api.POST('/v1/tasks/{id}/cancel', toTask({ id, tenant: null })))}
        done="The task is being stopped"
        refresh={[['now']]}
      />
    </li>
  );
});

/** The time since its start, in amber with the usual time when it takes much longer. */
function ElapsedTime({ task: { startedAt, usualMs } }: { task: RunningTask }): ReactElement {
  const now = useNow();
  if (!startedAt) return <span className={classes['time']}>starts</span>;
  const ms = Math.max(0, now - Date.parse(startedAt));
  const isLong = isUnusual(ms, usualMs);
  return (
    <span className={classes['time']} data-tone={isLong ? 'warn' : undefined} title={`running since ${startedAt}`}>
      {durationText(ms)}
      {isLong ? <span className={classes['usual']}>usually {durationText(usualMs)}</span> : null}
    </span>
  );
}
