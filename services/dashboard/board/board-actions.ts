import type { AppControllerRoute } from '@bull-board/api/typings/app';
import { MusterError } from '#shared/errors/index.ts';
import type { RetryParts } from '#shared/queue/index.ts';
import { DEFAULT_TENANT, publicTenantId } from '#shared/tenants/index.ts';
import { applyToReady, applyToTickets, removeTicket, retryTicket, type TicketJob, type TicketState } from './ticket-actions.ts';
import { TicketAdapter } from './ticket-adapter.ts';

type Handler = AppControllerRoute['handler'];
type BoardRequest = NonNullable<Parameters<Handler>[0]>;
type BoardAnswer = Awaited<ReturnType<Handler>>;
type QueueAction = (request: BoardRequest, adapter: TicketAdapter) => Promise<BoardAnswer>;

/** States of waiting tickets by their names in the board's addresses. */
const WAITING: ReadonlyMap<string, TicketState> = new Map([
  ['wait', 'waiting'],
  ['waiting', 'waiting'],
  ['prioritized', 'prioritized'],
  ['delayed', 'delayed'],
]);
const ENDED = ['completed', 'failed'] as const;
/** Tickets that ended this recently stay, because a person may be reading them. */
const CLEAN_GRACE_MS = 5000;
const DONE: BoardAnswer = { status: 200, body: {} };

/** Bull Board's own handlers that stay: `why` reports a paused queue as a reason. */
const ALLOWED = new Set([
  'put /api/queues/pause',
  'put /api/queues/resume',
  'put /api/queues/:queueName/pause',
  'put /api/queues/:queueName/resume',
]);

const REFUSED: Readonly<Record<string, string>> = {
  'post /api/queues/:queueName/add': 'A ticket without a task runs nothing. Send a task: POST /v1/tasks.',
  'put /api/queues/:queueName/promote': 'These tickets are not due: their tasks are scheduled for later or wait for a retry.',
  'put /api/queues/:queueName/:jobId/promote': 'This ticket is not due: its task is scheduled for later or waits for a retry.',
  'put /api/queues/:queueName/obliterate': 'This would lose accepted tasks. Cancel them instead: "Clean all" in the waiting lists does.',
  'patch /api/queues/:queueName/:jobId/priority': 'Change the priority of the task: POST /v1/tasks/:id/priority.',
  'put /api/queues/:queueName/concurrency': 'Set the slots of this queue in muster.config.ts.',
};

/**
 * Routes each change of a ticket through the ledger, and refuses every other change, also changes that a later Bull Board adds.
 * Tickets of other tenants are read-only.
 */
export function guardRoute(parts: RetryParts, route: AppControllerRoute): AppControllerRoute {
  if (route.method === 'get') return route;
  const name = `${String(route.method)} ${String(route.route)}`;
  if (ALLOWED.has(name)) return route;
  const action = actions(parts)[name];
  const handler: Handler = action
    ? (request) => applyToQueue(request, action)
    : () => refusal(REFUSED[name] ?? 'Muster does not offer this.');
  return { ...route, handler };
}

function actions(parts: RetryParts): Record<string, QueueAction> {
  const retry = (job: TicketJob): Promise<void> => retryTicket(parts, job);
  const remove = (job: TicketJob): Promise<void> => removeTicket(parts.ledger, job);
  const removeUnlessFresh = async (job: TicketJob): Promise<void> => {
    if (Date.now() - (job.finishedOn ?? 0) >= CLEAN_GRACE_MS) await remove(job);
  };
  return {
    'put /api/queues/:queueName/:jobId/retry': async (request, adapter) => {
      const job = await findJob(request, adapter);
      const state = await job.getState();
      if (state !== 'failed') throw new MusterError('task.wrong-state', `This ticket is ${state}; only a failed one can be retried`);
      await retry(job);
      return DONE;
    },
    'put /api/queues/:queueName/:jobId/clean': async (request, adapter) => {
      await remove(await findJob(request, adapter));
      return { status: 204, body: {} };
    },
    'put /api/queues/:queueName/retry/:queueStatus': async (request, { tickets }) => {
      if (request.params['queueStatus'] !== 'failed') return refusal('Only failed tickets can be retried.');
      const { done, skipped } = await applyToTickets(tickets, 'failed', retry);
      return { status: 200, body: { retried: done, skipped } };
    },
    'put /api/queues/:queueName/clean/:queueStatus': async (request, adapter) => {
      const status = String(request.params['queueStatus']);
      const ended = ENDED.find((each) => each === status);
      const waiting = WAITING.get(status);
      if (ended) await applyToTickets(adapter.tickets, ended, removeUnlessFresh);
      else if (waiting) await removeWaiting(adapter, waiting, remove);
      else return refusal('To stop running tasks, cancel them: POST /v1/tasks/:id/cancel.');
      return DONE;
    },
    'put /api/queues/:queueName/empty': async (_request, adapter) => {
      for (const state of ['waiting', 'prioritized'] as const) await removeWaiting(adapter, state, remove);
      return DONE;
    },
  };
}

/** Ready tickets first: the removal of others would let them out. */
async function removeWaiting(adapter: TicketAdapter, state: TicketState, remove: (job: TicketJob) => Promise<void>): Promise<void> {
  if (state === 'prioritized') await applyToReady(adapter, remove);
  await applyToTickets(adapter.tickets, state, remove);
}

async function applyToQueue(request: BoardRequest | undefined, action: QueueAction): Promise<BoardAnswer> {
  const adapter = request?.queues.get(String(request.params['queueName']));
  if (!request || !(adapter instanceof TicketAdapter)) throw new MusterError('queue.not-found', 'There is no such queue');
  if (adapter.readOnlyMode) return refusal('This queue is read-only.');
  return await action(request, adapter);
}

async function findJob(request: BoardRequest, adapter: TicketAdapter): Promise<TicketJob> {
  const job = await adapter.findTicket(String(request.params['jobId']));
  if (!job) throw new MusterError('task.not-found', 'This ticket is gone; the page may be old');
  const { tenant } = job.data;
  if (tenant !== DEFAULT_TENANT) {
    throw new MusterError('auth.forbidden', `This ticket is of tenant ${publicTenantId(tenant)}; steer its task with a key of that tenant`);
  }
  return job;
}

/** An answer in the form that Bull Board's pages show to people. */
function refusal(message: string): BoardAnswer {
  return { status: 409, body: { error: 'Not from here', message } };
}
