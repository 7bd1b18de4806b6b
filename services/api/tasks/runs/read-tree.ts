import { z } from 'zod';
import { route, type Route } from '#shared/http/index.ts';
import { type Ledger, parentLookup, readLookupAfter, readOpenings, readStates, type TaskOpening } from '#shared/ledger/index.ts';
import type { TaskState } from '#shared/tasks/index.ts';
import { instantSchema, toIso } from '#shared/time/index.ts';
import { findState, taskNotFound, taskPathSchema } from '../find-tasks.ts';
import { taskStatusSchema } from '../task-view.ts';

/** Tasks that one tree shows, and bytes of each input. */
const MAX_TASKS = 2000;
const INPUT_BYTES = 200;
/** Sub-tasks of one task that it shows, and tasks whose sub-tasks are read at once. */
const MAX_CHILDREN = 1000;
const TOGETHER = 100;

const CHILD = {
  id: '01KQS1C8ZW4H6J8K0M2N4P6Q8R',
  agent: 'reader',
  status: 'running',
  input: 'Tea? (for)',
  costMicroUsd: 1200,
  isEstimated: false,
  createdAt: '2026-05-01T09:00:02.000Z',
  startedAt: '2026-05-01T09:00:03.000Z',
  completedAt: null,
  children: [],
  hasMore: false,
};
const EXAMPLE = { ...CHILD, id: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A', agent: 'research', status: 'suspended', input: 'Tea?', children: [CHILD] };

const nodeSchema = z
  .strictObject({
    id: z.string().meta({ description: "The task's id." }),
    agent: z.string().meta({ description: 'The agent that runs it.' }),
    status: taskStatusSchema,
    input: z.string().meta({ description: `How its input begins, at most ${INPUT_BYTES} bytes.` }),
    costMicroUsd: z
      .number()
      .nullable()
      .meta({ description: 'Cost of its own attempts in millionths of a US dollar, without that of its sub-tasks; null when unknown.' }),
    isEstimated: z.boolean().meta({ description: 'Whether a part of that is estimated.' }),
    createdAt: instantSchema.meta({ description: 'When it was accepted.' }),
    startedAt: instantSchema.nullable().meta({ description: 'When its current or last attempt began.' }),
    completedAt: instantSchema.nullable().meta({ description: 'When it ended.' }),
    get children() {
      return z.array(nodeSchema).meta({ description: 'The tasks that it delegated, oldest first.' });
    },
    hasMore: z.boolean().meta({ description: 'Whether it may have delegated others, which are left out because the tree is large.' }),
  })
  .meta({ id: 'TaskTreeNode', examples: [EXAMPLE] });

const querySchema = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_TASKS)
    .default(MAX_TASKS)
    .meta({ description: 'Tasks that it shows at most, of all levels.' }),
});

const treeSchema = z.strictObject({ root: nodeSchema }).meta({ id: 'TaskTree' });

interface TreeNode extends z.infer<typeof nodeSchema> {
  children: TreeNode[];
}

/** `GET /v1/tasks/:id/tree`: a task and all that descends from it. */
export function getTree({ ledger }: { ledger: Ledger }): Route {
  return route({
    method: 'get',
    path: '/v1/tasks/:id/tree',
    operationId: 'getTree',
    summary: 'A task with its sub-tasks',
    description:
      'The task and all that descends from it by delegation, level by level. `rootTaskId` of a task is the one that has the whole tree.',
    scope: 'read',
    errors: ['task.not-found'],
    request: { params: taskPathSchema, query: querySchema },
    responses: { 200: treeSchema },
    handle: async ({ params: { id }, query: { limit } }, { tenant }) => {
      const state = await findState(ledger, tenant, id);
      const opening = (await readOpenings(ledger, tenant, [id], INPUT_BYTES)).get(id);
      if (!opening) throw taskNotFound(id);
      const root = nodeOf(opening, state);
      await growTree(ledger, tenant, { root, limit });
      return { status: 200, body: { root } };
    },
  });
}

/** Reads the levels below the root, until there is no room. */
async function growTree(ledger: Ledger, tenant: string, { root, limit }: { root: TreeNode; limit: number }): Promise<void> {
  let room = limit - 1;
  for (let level = [root]; level.length > 0;) {
    const below: TreeNode[] = [];
    for (let from = 0; from < level.length; from += TOGETHER) {
      const nodes = level.slice(from, from + TOGETHER);
      const found = await readChildren(ledger, tenant, nodes);
      for (const [place, node] of nodes.entries()) {
        const children = found[place] ?? [];
        node.children = children.slice(0, Math.min(room, MAX_CHILDREN));
        node.hasMore = node.children.length < children.length;
        room -= node.children.length;
        below.push(...node.children);
      }
    }
    level = below;
  }
}

/** The tasks that each of these delegated, one more than are shown at most. */
async function readChildren(ledger: Ledger, tenant: string, nodes: readonly TreeNode[]): Promise<TreeNode[][]> {
  const ids = await Promise.all(nodes.map(({ id }) => readLookupAfter(ledger, parentLookup(ledger, tenant, id), '', MAX_CHILDREN + 1)));
  const all = ids.flat();
  const [openings, states] = await Promise.all([readOpenings(ledger, tenant, all, INPUT_BYTES), readStates(ledger, tenant, all)]);
  const stateOf = new Map(all.map((id, place) => [id, states[place]]));
  return ids.map((own) =>
    own.flatMap((id) => {
      const [opening, state] = [openings.get(id), stateOf.get(id)];
      return opening && state ? [nodeOf(opening, state)] : [];
    }),
  );
}

function nodeOf({ id, agent, input }: TaskOpening, { status, usage, createdAt, startedAt, completedAt }: TaskState): TreeNode {
  const { costMicroUsd = null, isEstimated = false } = usage ?? {};
  return {
    id,
    agent,
    status,
    input,
    costMicroUsd,
    isEstimated,
    createdAt: new Date(createdAt).toISOString(),
    startedAt: toIso(startedAt),
    completedAt: toIso(completedAt),
    children: [],
    hasMore: false,
  };
}
