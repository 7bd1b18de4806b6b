import { keepPreviousData, useQuery, useQueryClient, type QueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef, type ReactElement } from 'react';
import { isTerminal } from '#shared/tasks/transitions.ts';
import type { TaskTreeNode, TaskWithProgress } from '#shared/client/openapi.gen.ts';
import type { TaskRef } from '../../api/task-ref.ts';
import { MAX_ANCESTORS, readAncestors, readTree } from './read-relatives.ts';
import { ProblemNote } from '../../parts/notes/problem-note.tsx';
import { countText, Money } from '../../parts/numbers.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { Age, Elapsed } from '../../parts/time.tsx';
import { PageLink } from '../../routing/navigation.tsx';
import { taskPath } from '../../routing/paths.ts';
import { type Delegated, growTree, tasksOf, treeCountText, type TreeNode, type TreeTask } from './grow-tree.ts';
import classes from './task-tree.module.css';
import taskClasses from './tasks.module.css';

const POLL_MS = 5000;

/** The tasks that led to a task and those that it delegated, as a graph; nothing for a task without parent and children. */
export function TaskTree({ task, taskRef }: { task: TaskWithProgress; taskRef: TaskRef }): ReactElement | null {
  const { data: family, error } = useFamily(task, taskRef);
  if (family === undefined) return error === null ? null : <ProblemNote title="Parents and children could not be read" error={error} />;
  const { tree, before } = family;
  const drawn = tasksOf(tree).length;
  if (drawn === 1 && tree.more === 0 && before === null) return null;
  return (
    <section className="card">
      <div className={taskClasses['line']}>
        <h2>Parents and children</h2>
        <span className="faint">{treeCountText(tree)}</span>
      </div>
      {before === null ? null : <Before before={before} tenant={taskRef.tenant} />}
      <Graph tree={tree} task={task} tenant={taskRef.tenant} />
    </section>
  );
}

interface BeforeTree {
  id: string;
  /** Whether there may be too many ancestors, rather than one that is not kept. */
  isFar: boolean;
}

function Before({ before: { id, isFar }, tenant }: { before: BeforeTree; tenant: string | null }): ReactElement {
  if (!isFar) return <p className={`faint ${classes['before']}`}>The task before the first one is not kept any more.</p>;
  return (
    <p className={`faint ${classes['before']}`}>
      Others led to the first one: <PageLink href={taskPath({ id, tenant })}>the task before it</PageLink>
    </p>
  );
}

interface GraphProps {
  tree: TreeNode;
  /** The task of the page, whose record is newer than the tree. */
  task: TaskWithProgress;
  tenant: string | null;
}

/** The lines are borders of the items of nested lists, which screen readers and keyboards know. */
function Graph({ tree, task, tenant }: GraphProps): ReactElement {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (box.current !== null) scrollToCurrent(box.current);
  }, []);
  return (
    <ScrollBox label="Graph of parents and children" className={classes['box']} ref={box}>
      <ul className={classes['tree']}>
        <Branch node={tree} task={task} tenant={tenant} />
      </ul>
    </ScrollBox>
  );
}

/** Shows the task of the page in the middle of the box, and leaves the page where it is. */
function scrollToCurrent(box: HTMLElement): void {
  const current = box.querySelector('[aria-current]')?.getBoundingClientRect();
  if (current === undefined) return;
  const { left, top, width, height } = box.getBoundingClientRect();
  box.scrollBy(current.left + current.width / 2 - left - width / 2, current.top + current.height / 2 - top - height / 2);
}

function Branch({ node, task, tenant }: Omit<GraphProps, 'tree'> & { node: TreeNode }): ReactElement {
  const { children, more } = node;
  return (
    <li>
      {node.task.id === task.id ? (
        <div className={classes['node']} aria-current="true">
          <NodeFacts task={treeTaskOf(task)} />
        </div>
      ) : (
        <PageLink className={classes['node']} href={taskPath({ id: node.task.id, tenant })}>
          <NodeFacts task={node.task} />
        </PageLink>
      )}
      {children.length === 0 && more === 0 ? null : (
        <ul>
          {children.map((child) => (
            <Branch key={child.task.id} node={child} task={task} tenant={tenant} />
          ))}
          {more === 0 ? null : (
            <li>
              <More node={node} tenant={tenant} />
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** How many children are not drawn, with a link to all of them in the person's own tenant. */
function More({ node, tenant }: { node: TreeNode; tenant: string | null }): ReactElement {
  const { children, more, isLowerBound, task } = node;
  const text = `${isLowerBound ? 'at least ' : ''}${countText(more)} ${children.length === 0 ? 'delegated' : 'more'}`;
  if (tenant !== null) return <span className={classes['more']}>{text}</span>;
  return (
    <PageLink className={classes['more']} href={`/tasks?parent=${encodeURIComponent(task.id)}`}>
      {text}
    </PageLink>
  );
}

const EXCERPT_CHARACTERS = 80;

function NodeFacts({ task }: { task: TreeTask }): ReactElement {
  const { agent, status, input, costMicroUsd, isEstimated } = task;
  return (
    <>
      <span className={classes['head']}>
        <strong>{agent}</strong> <StatusBadge status={status} />
      </span>{' '}
      <span className={classes['input']}>{input.slice(0, EXCERPT_CHARACTERS)}</span>{' '}
      <span className={`faint ${classes['numbers']}`}>
        <NodeTime task={task} />
        {costMicroUsd === null ? null : (
          <>
            {' · '}
            <Money microUsd={costMicroUsd} isEstimated={isEstimated} />
          </>
        )}
      </span>
    </>
  );
}

function NodeTime({ task: { status, createdAt, startedAt, completedAt } }: { task: TreeTask }): ReactElement {
  if (startedAt && (status === 'running' || completedAt)) {
    return (
      <span>
        {status === 'running' ? 'runs for ' : 'ran for '}
        <Elapsed from={startedAt} to={completedAt} />
      </span>
    );
  }
  return (
    <span>
      accepted <Age at={createdAt} />
    </span>
  );
}

interface Family {
  tree: TreeNode;
  before: BeforeTree | null;
}

function useFamily(task: TaskWithProgress, { tenant }: TaskRef): UseQueryResult<Family> {
  const client = useQueryClient();
  return useQuery({
    // What it delegated in its last seconds is read once it has ended.
    queryKey: ['task', tenant, task.id, 'family', isTerminal(task.status)],
    queryFn: () => readFamily(client, task, tenant),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data !== undefined && haveEnded(tasksOf(state.data.tree)) ? false : POLL_MS),
  });
}

/** Reads a task's tree, and again only what can have changed since. */
async function readFamily(client: QueryClient, task: TaskWithProgress, tenant: string | null): Promise<Family> {
  const ancestors = await client.fetchQuery({
    queryKey: ['task', tenant, task.id, 'ancestors'],
    queryFn: ({ signal }) => readAncestors(task, tenant, signal),
    staleTime: ({ state }) => (state.data !== undefined && haveEnded(state.data) ? Infinity : 0),
  });
  const line = [...ancestors, task];
  // That of the first ancestor has the others of the family; where it is too large, this task's own is in it in part only.
  const roots = new Set([line[0]?.id ?? task.id, task.id]);
  const read = [...roots].map((id) =>
    // Not below the task's own key: what its agent writes would have the tree read again each time.
    client.fetchQuery({ queryKey: ['task-tree', tenant, id], queryFn: ({ signal }) => readTree({ id, tenant }, signal) }),
  );
  const delegated = new Map((await Promise.all(read)).flatMap(nodesOf).map((node) => [node.id, delegatedBy(node)]));
  const tree = growTree(line.map(treeTaskOf), ({ id }) => delegated.get(id) ?? { items: [], hasMore: false });
  if (tree === null) throw new Error(`The tree of ${task.id} has no task`);
  const id = line[0]?.parentTaskId;
  return { tree, before: id ? { id, isFar: ancestors.length === MAX_ANCESTORS } : null };
}

/** The tasks of a tree, each before those that it delegated. */
function nodesOf(node: TaskTreeNode): TaskTreeNode[] {
  return [node, ...node.children.flatMap(nodesOf)];
}

function delegatedBy({ children, hasMore }: TaskTreeNode): Delegated {
  return { items: children, hasMore };
}

function treeTaskOf({ id, agent, status, input, usage, createdAt, startedAt, completedAt }: TaskWithProgress): TreeTask {
  const { costMicroUsd = null, isEstimated = false } = usage ?? {};
  return { id, agent, status, input, costMicroUsd, isEstimated, createdAt, startedAt, completedAt };
}

function haveEnded(tasks: readonly Pick<TreeTask, 'status'>[]): boolean {
  return tasks.every(({ status }) => isTerminal(status));
}
