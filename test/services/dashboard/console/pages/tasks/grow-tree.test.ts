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
  createdAt: '2026-01-01T00:00:00.000Z',
});

/** Reads from lists by the id of the parent. */
const from =
  (lists: Record<string, readonly TreeTask[]>, hasMore = false) =>
  ({ id }: TreeTask): Promise<Delegated> =>
    Promise.resolve({ items: lists[id] ?? [], hasMore: hasMore && id in lists });

/** A tree as text: `root(child child(grandchild +2))`. */
function textOf({ task, children, more, isLowerBound }: TreeNode): string {
  const parts = [...children.map(textOf), ...(more > 0 ? [`+${more}${isLowerBound ? ' or more' : ''}`] : [])];
  return parts.length === 0 ? task.id : `${task.id}(${parts.join(' ')})`;
}

const grow = async (line: readonly TreeTask[], read: (task: TreeTask) => Promise<Delegated>): Promise<string> => {
  const tree = await growTree(line, read);
  return tree === null ? '' : textOf(tree);
};

const many = (prefix: string, count: number): TreeTask[] => Array.from({ length: count }, (_, place) => taskOf(`${prefix}${place}`));

it('a task stands among its siblings below its ancestors, and above what it delegated', async () => {
  const lists = {
    root: [taskOf('a'), taskOf('parent'), taskOf('z')],
    parent: [taskOf('b'), taskOf('own')],
    own: [taskOf('child')],
    child: [taskOf('grandchild')],
    b: [taskOf('nephew')],
  };
  expect(await grow([taskOf('root'), taskOf('parent'), taskOf('own')], from(lists))).toBe(
    'root(a parent(b(nephew) own(child(grandchild))) z)',
  );
});

it('many children are drawn up to eight, failed and running ones first, and the others counted', async () => {
  const children = [...many('done', 10), taskOf('failed', 'permanently_failed'), taskOf('runs', 'running')];
  expect(await grow([taskOf('own')], from({ own: children }))).toBe('own(done0 done1 done2 done3 done4 done5 failed runs +4)');
  expect(await grow([taskOf('own')], from({ own: children }, true))).toContain('+4 or more');
});

it('the task of the line is drawn among many siblings, also when their list does not have it', async () => {
  expect(await grow([taskOf('parent'), taskOf('own')], from({ parent: many('s', 9) }))).toBe('parent(own s0 s1 s2 s3 s4 s5 s6 s7 +1)');
  expect(await grow([taskOf('parent'), taskOf('s8')], from({ parent: many('s', 10) }))).toBe('parent(s0 s1 s2 s3 s4 s5 s6 s7 s8 +1)');
});

it('a large tree ends at forty tasks, and a deep one after four levels, with the number of those below', async () => {
  const wide = await growTree([taskOf('own')], ({ id }) => Promise.resolve({ items: many(`${id}.`, 8), hasMore: false }));
  expect(wide && tasksOf(wide)).toHaveLength(40);
  expect(wide && treeCountText(wide)).toBe('40 of 321 tasks');
  const deep = await grow([taskOf('x')], ({ id }) => Promise.resolve({ items: [taskOf(`${id}x`)], hasMore: false }));
  expect(deep).toBe('x(xx(xxx(xxxx(xxxxx(+1)))))');
});
