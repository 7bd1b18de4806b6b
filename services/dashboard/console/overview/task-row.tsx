import type { ReactElement } from 'react';
import type { Task } from '../api/records.ts';
import { Age } from '../parts/time.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { PageLink } from '../routing/page-link.tsx';
import classes from './overview.module.css';

const EXCERPT_CHARACTERS = 200;

/** One task in a list; its page has the rest. */
export function TaskRow({ task }: { task: Task }): ReactElement {
  return (
    <li>
      <PageLink className={classes['task']} href={`/tasks/${task.id}`}>
        <span className={classes['line']}>
          <strong>{task.agent}</strong>
          <StatusBadge status={task.status} />
          <span className={`faint ${classes['age']}`}>
            <Age at={task.createdAt} />
          </span>
        </span>
        <span className={classes['excerpt']}>{excerpt(task.input)}</span>
        <span className={`faint ${classes['origin']}`}>
          {task.source}
          {task.session === null ? '' : ` · ${task.session}`} · <code>{task.id}</code>
        </span>
      </PageLink>
    </li>
  );
}

function excerpt(input: string): string {
  return input.slice(0, EXCERPT_CHARACTERS).replaceAll(/\s+/g, ' ').trim() || '(no text)';
}
