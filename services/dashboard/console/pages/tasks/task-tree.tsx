import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import type { TaskRef } from '../../api/records.ts';
import { readAncestors, readChildren } from '../../api/task-relations.ts';
import type { TaskRecord } from '../../api/tasks.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Age } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import classes from './task-tree.module.css';

const POLL_MS = 5000;

/** The tasks that led to a task and the tasks that it delegated; nothing for a task without parent and children. */
export function TaskTree({ task, taskRef }: { task: TaskRecord; taskRef: TaskRef }): ReactElement | null {
  const { tenant } = taskRef;
  const ancestors = useQuery({
    queryKey: ['task', tenant, task.id, 'ancestors'],
    queryFn: ({ signal }) => readAncestors(task, tenant, signal),
    enabled: Boolean(task.parentTaskId),
    staleTime: Infinity,
  });
  const children = useChildren(taskRef, isTerminal(task.status));
  const line = ancestors.data ?? [];
  const hasFamily = Boolean(task.parentTaskId) || (children.data?.length ?? 0) > 0;
  if (children.error !== null) return <ProblemNote title="The tasks that it delegated could not be read" error={children.error} />;
  if (!hasFamily) return null;
  return (
    <section className="card">
      <h2>Parents and children</h2>
      <Branch line={[...line, task]} current={task.id} tenant={tenant} />
    </section>
  );
}

type Node = Pick<TaskRecord, 'id' | 'agent' | 'status' | 'input' | 'createdAt'>;

/** A line of tasks from the first ancestor down; the last one shows its children. */
function Branch({ line, current, tenant }: { line: readonly Node[]; current: string; tenant: string | null }): ReactElement | null {
  const [node, ...rest] = line;
  if (node === undefined) return null;
  return (
    <ul className={classes['tree']}>
      <li>
        <NodeLine node={node} isCurrent={node.id === current} tenant={tenant} />
        {rest.length > 0 ? <Branch line={rest} current={current} tenant={tenant} /> : <Children node={node} tenant={tenant} />}
      </li>
    </ul>
  );
}

function Children({ node, tenant }: { node: Node; tenant: string | null }): ReactElement | null {
  const { data = [] } = useChildren({ id: node.id, tenant }, isTerminal(node.status));
  if (data.length === 0) return null;
  return (
    <ul className={classes['tree']}>
      {data.map((child) => (
        <Child key={child.id} node={child} tenant={tenant} />
      ))}
    </ul>
  );
}

/** A child, whose own children are read when a person opens it. */
function Child({ node, tenant }: { node: Node; tenant: string | null }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <NodeLine node={node} tenant={tenant}>
        <button type="button" className={classes['more']} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide what it delegated' : 'What it delegated'}
        </button>
      </NodeLine>
      {isOpen ? <Children node={node} tenant={tenant} /> : null}
    </li>
  );
}

interface NodeLineProps {
  node: Node;
  tenant: string | null;
  isCurrent?: boolean;
  children?: ReactElement;
}

const EXCERPT_CHARACTERS = 80;

function NodeLine({ node, tenant, isCurrent = false, children }: NodeLineProps): ReactElement {
  const { id, agent, status, input, createdAt } = node;
  return (
    <div className={classes['node']} aria-current={isCurrent ? 'true' : undefined}>
      {isCurrent ? <strong>{agent}</strong> : <PageLink href={taskPath({ id, tenant })}>{agent}</PageLink>}
      <StatusBadge status={status satisfies TaskStatus} />
      <span className={classes['input']}>{input.slice(0, EXCERPT_CHARACTERS)}</span>
      <span className="faint">
        <Age at={createdAt} />
      </span>
      {children}
    </div>
  );
}

function useChildren(taskRef: TaskRef, hasEnded: boolean): { data: Awaited<ReturnType<typeof readChildren>> | undefined; error: unknown } {
  return useQuery({
    queryKey: ['task', taskRef.tenant, taskRef.id, 'children'],
    queryFn: ({ signal }) => readChildren(taskRef, signal),
    // Only a task that runs delegates more, and its children may end after it.
    refetchInterval: ({ state }) => (hasEnded && state.data?.every(({ status }) => isTerminal(status)) === true ? false : POLL_MS),
  });
}
