import { z } from 'zod';
import { hasCode } from '#shared/errors/index.ts';
import { explainWait } from '#shared/queue/index.ts';
import { readAttempts, readProgress } from '#shared/ledger/index.ts';
import { isTerminal, type Task } from '#shared/tasks/index.ts';
import { toIso } from '#shared/time/index.ts';
import { findTask } from '../tasks/find-tasks.ts';
import { answerByForms, formsFor, openQuestions } from './asked-questions.ts';
import type { ClientAbilities } from './client-abilities.ts';
import type { McpRequest } from './mcp-request.ts';
import { answeringTask, resultOfTask } from './task-results.ts';
import type { ToolAnswer } from './tool-result.ts';

/** The extension's name among the capabilities. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** How often a client is to ask. */
const POLL_MS = 1000;

export const taskParams = z.object({ taskId: z.string() });
/** The answers come beside the parameters. */
export const anyResult = z.looseObject({});

/** A handle of an accepted task, which any process of the API knows. */
export async function taskHandle(request: McpRequest, task: Task): Promise<ToolAnswer> {
  const { status, statusMessage } = await standing(request, task, { tasks: true, elicitation: false });
  return { resultType: 'task', ...factsOf(request, task), status, statusMessage, content: [] };
}

type Facts = Readonly<Record<string, unknown>>;

/** `tasks/get`. The record in the ledger is all that there is to know of it. Errors: `task.not-found`. */
export async function getMcpTask(request: McpRequest, client: ClientAbilities, id: string): Promise<Facts> {
  const own = await findTask(request.ports.ledger, request.tenant, id);
  const task = await answeringTask(request, own);
  const facts = { ...factsOf(request, task), taskId: id };
  const { status } = task.state;
  if (status === 'cancelled') return { ...facts, status: 'cancelled' };
  // A task that fails has a result that says so: `failed` is for requests that could not be served.
  if (isTerminal(status)) return { ...facts, status: 'completed', result: { resultType: 'complete', ...resultOfTask(task) } };
  return { ...facts, ...(await standing(request, task, client)) };
}

/** `tasks/update`: answers the questions of its run. Errors: `task.not-found`, and those of an answer. */
export async function updateMcpTask(request: McpRequest, id: string, responses: unknown): Promise<Facts> {
  const own = await findTask(request.ports.ledger, request.tenant, id);
  await answerByForms(request, await answeringTask(request, own), responses);
  return {};
}

/** `tasks/cancel`: acknowledged, also of a task that has ended. Errors: `task.not-found`, `auth.forbidden`. */
export async function cancelMcpTask(request: McpRequest, id: string): Promise<Facts> {
  try {
    await request.forward('cancelTask', { params: { id }, body: { reason: 'cancelled by its MCP client' } });
  } catch (error) {
    if (!hasCode(error, 'task.wrong-state')) throw error;
  }
  return {};
}

/** What does not depend on where it stands. Without an end nobody knows how long it is kept. */
function factsOf({ ports }: McpRequest, { body, state }: Task): Facts {
  const { createdAt, queuedAt = createdAt, startedAt = queuedAt, completedAt } = state;
  const { retentionMs } = ports.config.settings.tasks;
  return {
    taskId: body.id,
    createdAt: toIso(createdAt),
    lastUpdatedAt: toIso(completedAt ?? Math.max(createdAt, queuedAt, startedAt)),
    ttlMs: completedAt === undefined ? null : completedAt - createdAt + retentionMs,
    pollIntervalMs: POLL_MS,
  };
}

/** Where a task that has not ended stands. */
async function standing(request: McpRequest, task: Task, client: ClientAbilities): Promise<Facts> {
  const questions = await openQuestions(request, task);
  const inputRequests = client.elicitation ? await formsFor(request, questions) : {};
  if (Object.keys(inputRequests).length > 0) return { status: 'input_required', inputRequests };
  const asks = questions.map(({ question }) => `a person is asked: ${question}`);
  const reasons = asks.length > 0 ? asks : await reasonsOf(request, task);
  return { status: 'working', statusMessage: reasons.join('; ') || (await progressOf(request, task)) };
}

async function progressOf({ ports, tenant }: McpRequest, { body, state }: Task): Promise<string> {
  const { note = null, percent = null } = (await readProgress(ports.ledger, tenant, body.id)) ?? {};
  return [`the task is ${state.status}`, ...(percent === null ? [] : [`${percent} %`]), ...(note === null ? [] : [note])].join(': ');
}

async function reasonsOf({ ports, tenant }: McpRequest, { body, state }: Task): Promise<string[]> {
  const attempts = (await readAttempts(ports.ledger, tenant, body.id)) ?? [];
  const { reasons } = await explainWait(ports, { body, state, attempts });
  return reasons.map(({ detail }) => detail);
}
