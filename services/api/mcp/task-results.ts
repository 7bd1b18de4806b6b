import { readTask } from '#shared/ledger/index.ts';
import { isTerminal, type Task } from '#shared/tasks/index.ts';
import type { McpRequest } from './mcp-request.ts';
import { structured, type ToolAnswer } from './tool-result.ts';

/** Where results name the task that they are of. */
const TASK_META = 'muster/taskId';

/** A message may become part of a task that becomes part of another; so far it is followed. */
const MAX_FOLLOWED = 5;

/** What the ended task of a tool answers: its result, or the output of one that has none; a failure as an error of the tool. */
export function resultOfTask({ body, state, output, result = null }: Task): ToolAnswer {
  const meta = { _meta: { [TASK_META]: body.id } };
  if (state.status !== 'completed') {
    const { code, message } = state.error ?? { code: state.status, message: state.outcome?.reason ?? `The task is ${state.status}` };
    return { ...meta, isError: true, content: [{ type: 'text', text: `${code}: ${message} (task ${body.id})` }] };
  }
  return { ...meta, content: [{ type: 'text', text: textOf(result ?? output ?? '') }], ...structured(result) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Instead of a result, while the task goes on. */
export function resultOfOpenTask(id: string, detail: string): ToolAnswer {
  const text = `Task ${id} has not ended: ${detail}. Call get_task with this id for its result; why says what it waits for.`;
  return { _meta: { [TASK_META]: id }, content: [{ type: 'text', text }], structuredContent: { taskId: id, ended: false, detail } };
}

/** The task whose end answers a message: that which it became part of. */
export async function answeringTask({ ports, tenant }: McpRequest, task: Task): Promise<Task> {
  let found = task;
  for (let followed = 0; followed < MAX_FOLLOWED; followed += 1) {
    const { status, outcome } = found.state;
    const into = outcome?.kind === 'steered' || outcome?.kind === 'merged' ? outcome.taskId : undefined;
    if (!isTerminal(status) || into == null) return found;
    const next = await readTask(ports.ledger, tenant, into);
    if (next === null) return found;
    found = next;
  }
  return found;
}
