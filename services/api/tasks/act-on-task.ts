import { LIMIT_ERRORS } from '#shared/errors/index.ts';
import { z } from 'zod';
import { TASK_QUEUES } from '#shared/config/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { removeTask, type Ledger } from '#shared/ledger/index.ts';
import { cancelTree, idempotencyOf, type Intake, offerInput, reprioritizeTask, retryTask } from '#shared/queue/index.ts';
import { retryFromStep } from '#shared/execution/index.ts';
import { isTerminal, prioritySchema, TASK_ID, type TaskStatus } from '#shared/tasks/index.ts';
import { findState, findTask, findTaskRow, taskNotFound, taskPathSchema, wrongState } from './find-tasks.ts';
import { claimOf, idempotencyHeadersSchema } from './submit-task.ts';
import { keptStatusSchema, outcomeSchema, taskStatusSchema } from './task-view.ts';

const EXAMPLE_ID = '01KQS1C8ZV0G3P5T7W9X1Y2Z3A';
const idSchema = z.string().meta({ description: "The task's id." });

/** Actions on one task: cancel, retry, input, priority and removal. */
export function taskActionRoutes(ports: Intake): Route[] {
  return [deleteTask(ports), postCancel(ports), postRetry(ports), postInput(ports), postPriority(ports)];
}

const cancelledSchema = z
  .strictObject({
    id: idSchema,
    status: taskStatusSchema,
    stopping: z.boolean().meta({ description: 'It runs; its worker was notified to stop it.' }),
    subTasks: z.int().meta({ description: 'Tasks it delegated that were stopped with it.' }),
  })
  .meta({ id: 'TaskCancelled', examples: [{ id: EXAMPLE_ID, status: 'cancelled', stopping: false, subTasks: 0 }] });

const cancelBodySchema = z
  .strictObject({ reason: z.string().min(1).max(500).optional().meta({ description: 'For the record and the timeline.' }) })
  .meta({ id: 'CancelRequest', examples: [{ reason: 'no longer needed' }] });

/** `POST /v1/tasks/:id/cancel`: the task and all it delegated. 200 when it has ended, 202 while its worker stops it. */
function postCancel({ ledger }: { ledger: Ledger }): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/:id/cancel',
    operationId: 'cancelTask',
    summary: 'Stop a task and its sub-tasks',
    scope: 'submit',
    errors: ['task.not-found', 'task.wrong-state'],
    request: { params: taskPathSchema, body: cancelBodySchema.optional() },
    responses: { 200: cancelledSchema, 202: cancelledSchema },
    handle: async ({ params: { id }, body }, { tenant }) => {
      if (!TASK_ID.test(id)) throw taskNotFound(id);
      const { answer, subTasks } = await cancelTree(ledger, tenant, id, body?.reason ?? 'cancelled by request');
      switch (answer.kind) {
        case 'unknown':
          throw taskNotFound(id);
        case 'ended':
          if (answer.status !== 'cancelled') throw wrongState(answer.status, 'has ended');
          return { status: 200, body: { id, status: answer.status, stopping: false, subTasks } };
        case 'cancelled':
          return { status: 200, body: { id, status: 'cancelled', stopping: false, subTasks } };
        case 'stopping':
          return { status: 202, body: { id, status: 'running', stopping: true, subTasks } };
      }
    },
  });
}

const retryBodySchema = z
  .strictObject({
    fromStep: z.int().min(2).optional().meta({
      description:
        'The `seq` of an entry of its journal: a new task that has the journal up to there, and goes on with it. Of any ended task.',
    }),
  })
  .meta({ id: 'RetryRequest', examples: [{ fromStep: 4 }] });

const retriedSchema = z
  .strictObject({ id: idSchema, status: taskStatusSchema })
  .meta({ id: 'TaskRetried', examples: [{ id: EXAMPLE_ID, status: 'queued' }] });

/** `POST /v1/tasks/:id/retry`: a permanently failed task gets all its attempts again; a task in its backoff starts now. */
function postRetry(ports: Intake): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/:id/retry',
    operationId: 'retryTask',
    summary: 'Retry a permanently failed task, or start a task that waits for a retry now',
    description: 'With `fromStep` a new task is made of an ended one; the answer has its id.',
    scope: 'submit',
    errors: ['task.not-found', 'task.wrong-state', 'task.runaway', 'unavailable.files', ...LIMIT_ERRORS],
    request: { params: taskPathSchema, body: retryBodySchema.optional() },
    responses: { 202: retriedSchema },
    handle: async ({ params: { id }, body }, { tenant }) => {
      if (body?.fromStep !== undefined) return await continueFrom(ports, { tenant, id, fromStep: body.fromStep });
      const answer = TASK_ID.test(id) ? await retryTask(ports, tenant, id) : ({ kind: 'unknown' } as const);
      if (answer.kind === 'unknown') throw taskNotFound(id);
      if (answer.kind === 'refused') throw wrongState(answer.status, 'neither failed for good nor waits for a retry');
      return { status: 202, body: { id, status: answer.status } };
    },
  });
}

async function continueFrom(
  intake: Intake,
  { tenant, id, fromStep }: { tenant: string; id: string; fromStep: number },
): Promise<{ status: 202; body: { id: string; status: TaskStatus } }> {
  const task = await findTask(intake.ledger, tenant, id);
  if (!isTerminal(task.state.status)) throw wrongState(task.state.status, 'has not ended');
  const { id: made, status } = await retryFromStep(intake, task, fromStep);
  return { status: 202, body: { id: made, status: status ?? 'pending' } };
}

const inputAcceptedSchema = z
  .strictObject({
    id: z.string().meta({ description: "The message's own task." }),
    status: keptStatusSchema,
    outcome: outcomeSchema.nullable().meta({ description: 'Null until the running task takes it, or it runs itself.' }),
    position: z.int().meta({ description: 'How many tasks are before it in its line.' }),
  })
  .meta({ id: 'InputAccepted', examples: [{ id: EXAMPLE_ID, status: 'pending', outcome: null, position: 0 }] });

const inputBodySchema = z
  .strictObject({
    text: z.string().min(1).meta({ description: 'What the running task is given.' }),
    user: z.string().min(1).max(200).optional().meta({ description: 'Who wrote it; by default the user of the running task.' }),
  })
  .meta({ id: 'InputRequest', examples: [{ text: 'and in French, please' }] });

/** `POST /v1/tasks/:id/input`: a message for a running task; 202, or 200 for a key that came before. */
function postInput(intake: Intake): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/:id/input',
    operationId: 'sendInput',
    summary: 'Send a message to a running task',
    description:
      'The message is a task of its own. It ends as part of the running task that takes it, else it is the next turn. With an `Idempotency-Key` the request can be repeated.',
    scope: 'submit',
    errors: [
      'task.not-found',
      'task.not-running',
      'task.takes-no-input',
      'task.wrong-state',
      'task.idempotency-conflict',
      'task.runaway',
      ...LIMIT_ERRORS,
    ],
    request: { params: taskPathSchema, headers: idempotencyHeadersSchema, body: inputBodySchema },
    responses: { 200: inputAcceptedSchema, 202: inputAcceptedSchema },
    handle: async ({ params: { id }, headers, body }, call) => {
      const { tenant, traceparent } = call;
      if (!TASK_ID.test(id)) throw taskNotFound(id);
      const offered = await offerInput(intake, {
        tenant,
        task: id,
        input: body.text,
        traceparent,
        ...(body.user === undefined ? {} : { user: body.user, ...claimOf(call) }),
        ...idempotencyOf(headers['idempotency-key']),
      });
      const { status, outcome, position } = offered;
      const answer = { id: offered.id, status, outcome, position };
      return { status: offered.isDuplicate ? 200 : 202, body: answer, headers: { Location: `/v1/tasks/${offered.id}` } };
    },
  });
}

const prioritizedSchema = z
  .strictObject({
    id: idSchema,
    status: taskStatusSchema,
    priority: z.int().meta({ description: '10 is the most urgent.' }),
    queue: z.enum(TASK_QUEUES).meta({ description: 'The queue of its ticket.' }),
  })
  .meta({ id: 'TaskPrioritized', examples: [{ id: EXAMPLE_ID, status: 'queued', priority: 9, queue: TASK_QUEUES[0] }] });

const priorityBodySchema = z
  .strictObject({ priority: prioritySchema.meta({ description: 'From 1 to 10, the most urgent, or its name.' }) })
  .meta({ id: 'PriorityRequest', examples: [{ priority: 9 }] });

/** `POST /v1/tasks/:id/priority`: of a task that has not started. */
function postPriority(ports: Pick<Intake, 'ledger' | 'queues' | 'log'>): Route {
  return route({
    method: 'post',
    path: '/v1/tasks/:id/priority',
    operationId: 'changePriority',
    summary: 'Change the priority of a task that does not run',
    scope: 'submit',
    errors: ['task.not-found', 'task.wrong-state'],
    request: { params: taskPathSchema, body: priorityBodySchema },
    responses: { 200: prioritizedSchema },
    handle: async ({ params: { id }, body }, { tenant }) => {
      const state = await findState(ports.ledger, tenant, id);
      const answer = await reprioritizeTask(ports, tenant, id, { priority: body.priority });
      if (answer.kind !== 'changed') {
        throw answer.kind === 'running' ? wrongState('running', 'runs already') : wrongState(state.status, 'has ended');
      }
      const { status, priority, queue } = answer.state;
      return { status: 200, body: { id, status, priority, queue } };
    },
  });
}

/** `DELETE /v1/tasks/:id`: the record of a task that has ended, with its output. */
function deleteTask({ ledger }: { ledger: Ledger }): Route {
  return route({
    method: 'delete',
    path: '/v1/tasks/:id',
    operationId: 'deleteTask',
    summary: 'Remove the record of an ended task',
    description:
      'With its input, output, attempts and timeline. Its pending deliveries are dropped. A task that has not ended answers 409 `task.wrong-state`: cancel it first.',
    scope: 'operate',
    errors: ['task.not-found', 'task.wrong-state'],
    request: { params: taskPathSchema },
    responses: { 204: z.null() },
    handle: async ({ params: { id } }, { tenant, key, log }) => {
      const { status } = await findState(ledger, tenant, id);
      if (!isTerminal(status)) throw wrongState(status, 'has not ended');
      const task = await findTaskRow(ledger, tenant, id);
      // It was retried meanwhile.
      if (!(await removeTask(ledger, task))) throw wrongState(task.state.status, 'has not ended');
      log.info({ event: 'task.deleted', task: id, tenant, by: key?.id }, 'the record of a task was removed');
      return { status: 204 };
    },
  });
}
