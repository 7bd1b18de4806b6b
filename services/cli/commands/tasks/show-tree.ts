import { z } from 'zod';
import { durationText } from '#shared/time/index.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext } from '../../command-context.ts';
import { formatCost } from '../../output/format-cost.ts';
import { showTable } from '../../output/table.ts';
import { oneLine } from '../../output/terminal.ts';
import { resolveTaskId, styleOfStatus } from './task-view.ts';

const nodeSchema = z.object({
  id: z.string(),
  agent: z.string(),
  status: z.string(),
  input: z.string(),
  costMicroUsd: z.number().nullable(),
  createdAt: z.string(),
  completedAt: z.string().nullish(),
  get children() {
    return z.array(nodeSchema);
  },
  hasMore: z.boolean(),
});
type Node = z.infer<typeof nodeSchema>;

/** A line of the tree: the strokes before it, and its task; null for those that are left out. */
interface Line {
  strokes: string;
  node: Node | null;
}

const INPUT_WIDTH = 80;

/** Prints a task and those below it, one a line, and what they cost in all. */
export async function runTree(given: string, { json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const api = context.connect();
  const id = await resolveTaskId(api, given);
  const answer = await api.get(`/v1/tasks/${encodeURIComponent(id)}/tree`);
  if (json === true) return terminal.json(answer);
  const { root } = readAnswer(z.object({ root: nodeSchema }), answer);
  const lines = linesOf(root, '', '');
  const paint = (text: string, row: number): string => {
    const status = lines[row]?.node?.status ?? '';
    return status === '' ? text : text.replace(status, () => terminal.paint(status, styleOfStatus(status)));
  };
  const heading = ['AGENT', 'STATUS', 'TOOK', 'COST', 'ID', 'INPUT'];
  showTable({ heading, rows: lines.map((line) => rowOf(line, clock.now())), nextCursor: null, paint }, terminal);
  terminal.line(`\n${sumText(lines)}`);
}

/** `strokes`: before its own line; `below`: before those of its sub-tasks. */
function linesOf(node: Node, strokes: string, below: string): Line[] {
  const rows: (Node | null)[] = [...node.children, ...(node.hasMore ? [null] : [])];
  const inner = rows.flatMap((child, at) => {
    const [own, rest] = at === rows.length - 1 ? ['└─ ', '   '] : ['├─ ', '│  '];
    return child === null ? [{ strokes: below + own, node: null }] : linesOf(child, below + own, below + rest);
  });
  return [{ strokes, node }, ...inner];
}

function rowOf({ strokes, node }: Line, now: number): string[] {
  if (node === null) return [`${strokes}and more`];
  const { id, agent, status, input, costMicroUsd, createdAt, completedAt } = node;
  const tookMs = (completedAt ? Date.parse(completedAt) : now) - Date.parse(createdAt);
  const cost = costMicroUsd === null ? '' : formatCost(costMicroUsd);
  return [`${strokes}${oneLine(agent, INPUT_WIDTH)}`, status, durationText(tookMs), cost, id, oneLine(input, INPUT_WIDTH)];
}

function sumText(lines: readonly Line[]): string {
  const nodes = lines.flatMap(({ node }) => node ?? []);
  const known = nodes.flatMap(({ costMicroUsd }) => costMicroUsd ?? []);
  const count = `${nodes.length === 1 ? '1 task' : `${nodes.length} tasks`}${nodes.length < lines.length ? ' shown' : ''}`;
  return known.length === 0 ? `${count}.` : `${count}, ${formatCost(known.reduce((sum, cost) => sum + cost, 0))} in all.`;
}
