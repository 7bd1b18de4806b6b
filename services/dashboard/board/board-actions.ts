import type { AppControllerRoute } from '@bull-board/api/typings/app';
import { MusterError } from '#shared/errors/index.ts';
import type { RetryParts } from '#shared/queue/index.ts';
import { DEFAULT_TENANT, publicTenantId } from '#shared/tenants/index.ts';
import {
  applyToTickets,
  removeTicket,
  retryTicket,
  type TicketAction,
  type TicketActionCounts,
  type TicketJob,
  type TicketList,
  type TicketState,
} from './ticket-actions.ts';
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
  const removeUnlessFresh: TicketAction = async (job) => (Date.now() - (job.finishedOn ?? 0) < CLEAN_GRACE_MS ? false : await remove(job));
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
    'put /api/queues/:queueName/retry/:queueStatus': async (request, adapter) => {
      if (request.params['queueStatus'] !== 'failed') return refusal('Only failed tickets can be retried.');
      return answerOf('retried', [await applyToTickets(listOf(adapter, 'failed'), retry)]);
    },
    'put /api/queues/:queueName/clean/:queueStatus': async (request, adapter) => {
      const status = String(request.params['queueStatus']);
      const ended = ENDED.find((each) => each === status);
      const waiting = WAITING.get(status);
      if (ended) return answerOf('removed', [await applyToTickets(listOf(adapter, ended), removeUnlessFresh)]);
      if (waiting) return answerOf('cancelled', [await applyToTickets(listOf(adapter, waiting), remove)]);
      return refusal('To stop running tasks, cancel them: POST /v1/tasks/:id/cancel.');
    },
    'put /api/queues/:queueName/empty': async (_request, adapter) => {
      const waiting = await applyToTickets(listOf(adapter, 'waiting'), remove);
      return answerOf('cancelled', [waiting, await applyToTickets(listOf(adapter, 'prioritized'), remove)]);
    },
  };
}

function listOf(adapter: TicketAdapter, state: TicketState): TicketList {
  return { queue: adapter.tickets, state, ownReady: (max) => adapter.ownReady(max) };
}

/** Which tickets a button leaves as they are, by what it does to the others. */
const STAY = {
  retried: 'their tasks went on, or are no longer kept',
  removed: `they ended within the last ${CLEAN_GRACE_MS / 1000} s`,
  cancelled: 'a worker has them by now',
} as const;

/** How many tickets a button did something to. The pages show people only errors: what somebody may still do something about is one. */
function answerOf(verb: keyof typeof STAY, parts: readonly TicketActionCounts[]): BoardAnswer {
  const sum = (name: keyof TicketActionCounts): number => parts.reduce((total, counts) => total + counts[name], 0);
  const [done, skipped, left] = [sum('done'), sum('skipped'), sum('left')];
  const body = { [verb]: done, skipped, left };
  if (skipped + left === 0) return { status: 200, body };
  const stay = skipped === 0 ? [] : [`${skipped} stay: ${STAY[verb]}`];
  const more = left === 0 ? [] : [`${left} or more are left: press it again`];
  const message = `${[`${done} tickets were ${verb}`, ...stay, ...more].join('; ')}.`;
  const isError = left > 0 || (skipped > 0 && verb !== 'removed');
  return { status: isError ? 409 : 200, body: { ...body, error: 'Not all', message } };
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
