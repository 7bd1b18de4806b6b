import type { ReactElement } from 'react';
import type { Task } from '../../api/tasks.ts';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Age } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import classes from './overview.module.css';

const EXCERPT_CHARACTERS = 200;

/** A list of tasks, or a sentence when it is empty. */
export function TaskList({ tasks, whenEmpty }: { tasks: Task[]; whenEmpty: string }): ReactElement {
  if (tasks.length === 0) return <p className="faint">{whenEmpty}</p>;
  return (
    <ul className={classes['tasks']}>
      {tasks.map((task) => (
        <TaskRow key={task.id} task={task} />
      ))}
    </ul>
  );
}

/** One task in a list, with a link to its page. */
function TaskRow({ task }: { task: Task }): ReactElement {
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
