import { expect, it } from 'vitest';
import type { TaskStatus } from '#shared/tasks/transitions.ts';
import {
  treeCountText,
  growTree,
  tasksOf,
  type Delegated,
  type TreeNode,
  type TreeTask,
} from '../../../../../../services/dashboard/console/pages/tasks/grow-tree.ts';

const taskOf = (id: string, status: TaskStatus = 'completed'): TreeTask => ({
  id,
  agent: 'echo',
  status,
  input: id,
  costMicroUsd: null,
  isEstimated: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  startedAt: null,
  completedAt: null,
});

/** From lists by the id of the parent. */
const from =
  (lists: Record<string, readonly TreeTask[]>, hasMore = false) =>
  ({ id }: TreeTask): Delegated => ({ items: lists[id] ?? [], hasMore: hasMore && id in lists });

/** A tree as text: `root(child child(grandchild +2))`. */
function textOf({ task, children, more, isLowerBound }: TreeNode): string {
  const parts = [...children.map(textOf), ...(more > 0 ? [`+${more}${isLowerBound ? ' or more' : ''}`] : [])];
  return parts.length === 0 ? task.id : `${task.id}(${parts.join(' ')})`;
}

const grow = (line: readonly TreeTask[], delegatedBy: (task: TreeTask) => Delegated): string => {
  const tree = growTree(line, delegatedBy);
  return tree === null ? '' : textOf(tree);
};

const many = (prefix: string, count: number): TreeTask[] => Array.from({ length: count }, (_, place) => taskOf(`${prefix}${place}`));

it('a task stands among its siblings below its ancestors, and above what it delegated', () => {
  const lists = {
    root: [taskOf('a'), taskOf('parent'), taskOf('z')],
    parent: [taskOf('b'), taskOf('own')],
    own: [taskOf('child')],
    child: [taskOf('grandchild')],
    b: [taskOf('nephew')],
  };
  expect(grow([taskOf('root'), taskOf('parent'), taskOf('own')], from(lists))).toBe('root(a parent(b(nephew) own(child(grandchild))) z)');
});

it('many children are drawn up to eight, failed and running ones first, and the others counted', () => {
  const children = [...many('done', 10), taskOf('failed', 'permanently_failed'), taskOf('runs', 'running')];
  expect(grow([taskOf('own')], from({ own: children }))).toBe('own(done0 done1 done2 done3 done4 done5 failed runs +4)');
  expect(grow([taskOf('own')], from({ own: children }, true))).toContain('+4 or more');
});

it('the task of the line is drawn among many siblings, also when what was read does not have it', () => {
  expect(grow([taskOf('parent'), taskOf('own')], from({ parent: many('s', 9) }))).toBe('parent(own s0 s1 s2 s3 s4 s5 s6 s7 +1)');
  expect(grow([taskOf('parent'), taskOf('s8')], from({ parent: many('s', 10) }))).toBe('parent(s0 s1 s2 s3 s4 s5 s6 s7 s8 +1)');
});

it('a large tree ends at forty tasks, and a deep one after four levels, with the number of those below', () => {
  const wide = growTree([taskOf('own')], ({ id }) => ({ items: many(`${id}.`, 8), hasMore: false }));
  expect(wide && tasksOf(wide)).toHaveLength(40);
  expect(wide && treeCountText(wide)).toBe('40 of 321 tasks');
  const deep = grow([taskOf('x')], ({ id }) => ({ items: [taskOf(`${id}x`)], hasMore: false }));
  expect(deep).toBe('x(xx(xxx(xxxx(xxxxx(+1)))))');
});
