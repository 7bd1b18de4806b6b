import type { ReactElement } from 'react';
import type { RunningTask } from './read-fleet.ts';
import { PageLink } from '../../routing/navigation.tsx';

const LINKED = 2;

interface TaskLinksProps {
  /** Those of the person's tenant. */
  tasks: readonly RunningTask[];
  /** All that run there. */
  running: number;
}

/** Links to the first tasks that run somewhere, and how many more there are. */
export function TaskLinks({ tasks, running }: TaskLinksProps): ReactElement {
  const linked = tasks.slice(0, LINKED);
  const more = Math.max(running, tasks.length) - linked.length;
  if (linked.length === 0) return <span className="faint">{more === 0 ? 'nothing' : `${more} ${more === 1 ? 'task' : 'tasks'}`}</span>;
  return (
    <>
      {linked.map(({ id, agent }, place) => (
        <span key={id}>
          {place === 0 ? '' : ', '}
          <PageLink href={`/tasks/${encodeURIComponent(id)}`} title={id}>
            {agent}
          </PageLink>
        </span>
      ))}
      {more > 0 ? <span className="faint"> and {more} more</span> : null}
    </>
  );
}
