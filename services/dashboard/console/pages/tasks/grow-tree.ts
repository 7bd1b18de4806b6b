import type { TaskTreeNode } from '#shared/client/openapi.gen.ts';
import { isTerminal } from '#shared/tasks/transitions.ts';

/** What the tree shows of a task. */
export type TreeTask = Omit<TaskTreeNode, 'children' | 'hasMore'>;

/** Tasks that one task delegated, oldest first. */
export interface Delegated {
  readonly items: readonly TreeTask[];
  /** Whether there may be others that were not read. */
  readonly hasMore: boolean;
}

export interface TreeNode {
  readonly task: TreeTask;
  children: TreeNode[];
  /** How many children are not drawn; at least so many when `isLowerBound`. */
  more: number;
  isLowerBound: boolean;
}

const MAX_NODES = 40;
const MAX_CHILDREN = 8;
const MAX_LEVELS = 4;

/**
 * The tree around the last task of a line that leads from its first ancestor down to it. Levels grow at once from every task of the line,
 * the nearest ones first, until there is no room; what is not drawn is counted.
 */
export function growTree(line: readonly TreeTask[], delegatedBy: (task: TreeTask) => Delegated): TreeNode | null {
  const trunk = line.map(nodeOf);
  const nexts = new Map(trunk.map((node, place) => [node, trunk[place + 1]]));
  let room = MAX_NODES - trunk.length;
  let level = trunk.toReversed();
  for (let depth = 0; level.length > 0; depth += 1) {
    level = level.flatMap((node) => {
      const { items, hasMore } = delegatedBy(node.task);
      const max = depth < MAX_LEVELS ? Math.min(MAX_CHILDREN, room) : 0;
      const next = nexts.get(node);
      node.children = chooseChildren(items, next, max);
      const added = node.children.filter((child) => child !== next);
      node.more = items.filter(({ id }) => id !== next?.task.id).length - added.length;
      node.isLowerBound = hasMore;
      room -= added.length;
      return added;
    });
  }
  return trunk[0] ?? null;
}

const nodeOf = (task: TreeTask): TreeNode => ({ task, children: [], more: 0, isLowerBound: false });

/** At most so many children, besides the one that the line goes on with: failed and running ones rather than others. */
function chooseChildren(items: readonly TreeTask[], next: TreeNode | undefined, max: number): TreeNode[] {
  const others = items.filter(({ id }) => id !== next?.task.id);
  const urgent = others.toSorted((one, other) => Number(isUrgent(other)) - Number(isUrgent(one)));
  const chosen = new Set(urgent.slice(0, max));
  const drawn = items.filter((task) => chosen.has(task) || task.id === next?.task.id);
  const nodes = drawn.map((task) => (next !== undefined && task.id === next.task.id ? next : nodeOf(task)));
  // A large tree is read in part, which need not have the task of the line.
  return next === undefined || nodes.includes(next) ? nodes : [next, ...nodes];
}

function isUrgent({ status }: TreeTask): boolean {
  return !isTerminal(status) || status === 'permanently_failed';
}

/** The tasks of a tree, each before its children. */
export function tasksOf({ task, children }: TreeNode): TreeTask[] {
  return [task, ...children.flatMap(tasksOf)];
}

/** How many tasks are drawn, of how many that are known. */
export function treeCountText(tree: TreeNode): string {
  const drawn = tasksOf(tree).length;
  const hidden = hiddenIn(tree);
  if (drawn + hidden === 1) return '1 task';
  return hidden === 0 ? `${drawn} tasks` : `${drawn} of ${drawn + hidden} tasks`;
}

function hiddenIn({ children, more }: TreeNode): number {
  return children.reduce((sum, child) => sum + hiddenIn(child), more);
}
