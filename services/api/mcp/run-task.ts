import { type InputRequiredResult } from '@modelcontextprotocol/server';
import { MusterError } from '#shared/errors/index.ts';
import { isTerminal, type Task } from '#shared/tasks/index.ts';
import { findTask } from '../tasks/find-tasks.ts';
import { waitForTask } from '../tasks/submit-task.ts';
import { answerByForms, formsFor, isAsking, openQuestions } from './asked-questions.ts';
import type { ClientAbilities } from './client-abilities.ts';
import type { McpRequest } from './mcp-request.ts';
import { answeringTask, resultOfOpenTask, resultOfTask } from './task-results.ts';
import { taskHandle } from './tasks-extension.ts';
import type { ToolAnswer } from './tool-result.ts';

/** Clients give up a call after a minute, unless they are told otherwise. */
const WAIT_MS = 45_000;
/** A client that takes handles need not wait: what ends so soon is answered without one. */
const HANDLE_AFTER_MS = 2000;

/** A call of a tool that makes a task: the first one, or one that goes on with what a person was asked. */
export interface TaskCall {
  readonly client: ClientAbilities;
  /** The task that an earlier round of this call made, by what the client sent back; undefined in the first round. */
  readonly earlier: string | undefined;
  readonly responses: unknown;
  /** Is told how the task stands, while the call waits. */
  readonly onState: (state: Task['state']) => void;
  /** Makes the task. Resolves to its id. */
  readonly start: () => Promise<string>;
  /** Whether a task can be of an earlier round of this call. */
  readonly isOwn: (task: Task) => boolean;
}

/**
 * Runs the task of a tool: waits for its end up to a bound, and answers with its result, with a handle where the client takes one, with the
 * questions of its run where a person is there to answer, or with how to ask for it.
 */
export async function runTask(request: McpRequest, call: TaskCall): Promise<ToolAnswer> {
  const { client, earlier } = call;
  const id = earlier ?? (await call.start());
  const isLeft = earlier !== undefined && (await resume(request, call, earlier));
  const waitMs = client.tasks ? HANDLE_AFTER_MS : WAIT_MS;
  const until = (state: Task['state']): boolean => {
    call.onState(state);
    return isLeft || isTerminal(state.status) || isAsking(state);
  };
  await waitForTask(request.ports, request.call, { id, waitMs, until });
  const task = await answeringTask(request, await findTask(request.ports.ledger, request.tenant, id));
  if (isTerminal(task.state.status)) return resultOfTask(task);
  if (client.tasks) return await taskHandle(request, task);
  return await answerOpen(request, call, { task, isLeft });
}

/** Gives the answers of a person to the task of an earlier round. Returns whether the person left a question. Errors: `task.not-found`. */
async function resume(request: McpRequest, { isOwn, responses }: TaskCall, id: string): Promise<boolean> {
  const task = await findTask(request.ports.ledger, request.tenant, id);
  if (!isOwn(task)) throw new MusterError('task.not-found', 'There is no such task of this tool', { details: { id } });
  return (await answerByForms(request, task, responses)).left.length > 0;
}

interface OpenTask {
  readonly task: Task;
  /** Whether the person at the client was asked and gave no answer. */
  readonly isLeft: boolean;
}

async function answerOpen(request: McpRequest, { client }: TaskCall, { task, isLeft }: OpenTask): Promise<ToolAnswer> {
  const { id } = task.body;
  const questions = await openQuestions(request, task);
  if (questions.length === 0) return resultOfOpenTask(id, `it is ${task.state.status}`);
  const forms = client.elicitation && !isLeft ? await formsFor(request, questions) : {};
  if (Object.keys(forms).length > 0) return { ...asked(forms, id), content: [] };
  const asks = questions.map(({ id: question, question: text }) => `"${text}" (question ${question})`).join(', ');
  return resultOfOpenTask(id, `it asks ${asks}; answer_question answers it with what a person says`);
}

function asked(inputRequests: NonNullable<InputRequiredResult['inputRequests']>, id: string): InputRequiredResult {
  return { resultType: 'input_required', inputRequests, requestState: id };
}
