import type { AgentDefinition } from '../../config/index.ts';
import { type Ledger, type AcceptAnswer, type AcceptedAnswer, acceptMessage, type NewTask, readState } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import type { Queues } from '../queues.ts';
import type { TicketRelay } from '../tickets/ticket-relay.ts';
import { MusterError } from '../../errors/index.ts';
import { type TaskOutcome, type TaskStatus, traceIdOf, outcomeRecord } from '../../tasks/index.ts';
import { publicTenantId, tenantClosed } from '../../tenants/index.ts';
import { assertTimeout } from './check-request.ts';
import { buildTask, digestOf, type AcceptRequest } from './build-task.ts';
import { estimateStart, type Standing } from '../why/estimate-start.ts';
import { lookBeforeTicket } from '../why/explain-queue.ts';
import { pressureOf, reportPressure, type Pressure } from './pressure.ts';

/** What accepting a task needs. */
export interface Intake {
  readonly ledger: Ledger;
  readonly relay: TicketRelay;
  readonly queues: Queues;
  readonly log: Log;
  /** The agent of this name in the tenant's catalog, or null. */
  findAgent(tenant: string, id: string): Promise<AgentDefinition | null>;
}

export interface Accepted {
  id: string;
  /** Null for an earlier task whose record is no longer kept. */
  status: TaskStatus | null;
  /** How many tasks are before it in its lane or backlog; 0 when it may run. */
  position: number;
  /** Milliseconds until it will start, at the pace of the tenant's last tasks; null when nobody knows. */
  estimatedStartMs: number | null;
  pressure: Pressure | null;
  /** What became of it, when that is known at once. */
  outcome: TaskOutcome | null;
  /** Whether an earlier request under the same key had made it. */
  isDuplicate: boolean;
}

/**
 * Accepts a task: after this returns, it reaches exactly one terminal state.
 * Errors: `agent.unknown`, `request.invalid`, `request.too-large`, `task.idempotency-conflict`, `limit.rate`, `limit.waiting`, `limit.storage`,
 * `task.not-found` (of the parent), `tenant.disabled`, `tenant.ended`.
 */
export async function acceptTask(intake: Intake, request: AcceptRequest): Promise<Accepted> {
  try {
    const task = await checkedTask(intake, request);
    return await answerAccepted(intake, task, await acceptMessage(intake.ledger, task));
  } catch (error) {
    // Sent again, a request gets its task even when by now its deadline passed or its agent is gone.
    const earlier = error instanceof MusterError ? await findEarlier(intake.ledger, request) : null;
    if (earlier) return earlier;
    throw error;
  }
}

async function checkedTask(intake: Intake, request: AcceptRequest): Promise<NewTask> {
  const { ledger } = intake;
  ledger.stored.assertRoom(request.tenant);
  assertTimeout(ledger, request.tenant, 'execution.timeoutMs', request.execution?.timeoutMs);
  const definition = await intake.findAgent(request.tenant, request.agent);
  if (!definition) throw new MusterError('agent.unknown', `There is no agent "${request.agent}"`, { details: { agent: request.agent } });
  const parent = request.parentTaskId === undefined ? null : await readState(ledger, request.tenant, request.parentTaskId);
  if (request.parentTaskId !== undefined && !parent) {
    throw new MusterError('task.not-found', `There is no parent task ${request.parentTaskId}`);
  }
  return buildTask(request, definition, ledger.settings, parent?.priority);
}

/** What the same request under the same key made before; null when there is no such. */
export async function findEarlier(ledger: Ledger, request: AcceptRequest): Promise<Accepted | null> {
  if (request.idempotencyKey === undefined) return null;
  const known = await ledger.redis.get(ledger.keys.tenant(request.tenant).idempotency(request.idempotencyKey));
  const [id = '', digest] = known?.split(' ') ?? [];
  return digest === digestOf(request) ? await existing(ledger, request.tenant, id) : null;
}

async function existing(ledger: Ledger, tenant: string, id: string): Promise<Accepted> {
  const state = await readState(ledger, tenant, id);
  const status = state?.status ?? null;
  const outcome = state?.outcome ? outcomeRecord(state.outcome) : null;
  return { id, status, position: 0, estimatedStartMs: null, pressure: null, outcome, isDuplicate: true };
}

/** What a producer is told of its request. Errors: `task.idempotency-conflict`, `limit.rate`, `limit.waiting`, `tenant.disabled`, `tenant.ended`. */
export async function answerAccepted(intake: Intake, task: NewTask, answer: AcceptAnswer): Promise<Accepted> {
  const { ledger, log } = intake;
  const { tenant } = task.body;
  switch (answer.kind) {
    case 'accepted':
      return {
        id: answer.id,
        status: answer.status,
        position: answer.ahead,
        estimatedStartMs: await sendOff(intake, task, answer),
        pressure: reportPressure({ ledger, log }, tenant, pressureOf(ledger.settings, answer.depth)),
        outcome: answer.outcome,
        isDuplicate: false,
      };
    case 'duplicate':
      // Our own id: the connection sent our call again because its reply was lost, and nobody asked twice.
      return { ...(await existing(ledger, tenant, answer.id)), isDuplicate: answer.id !== task.body.id };
    case 'conflict':
      throw new MusterError('task.idempotency-conflict', 'This idempotency key was used for another request', {
        details: { id: answer.id },
      });
    case 'rate':
      throw new MusterError('limit.rate', `Tenant ${publicTenantId(tenant)} may not submit more ${answer.scope} tasks now`, {
        details: { scope: answer.scope },
        retryAfterMs: answer.retryAfterMs,
      });
    case 'closed':
      throw tenantClosed(tenant, answer.state);
    case 'waiting':
      throw new MusterError('limit.waiting', `${answer.waiting} tasks of tenant ${publicTenantId(tenant)} wait already`, {
        details: { waiting: answer.waiting },
        retryAfterMs: WAITING_RETRY_MS,
      });
  }
}

/** Brings the ticket of an accepted task on its way. Answers when it will start, or null: it is accepted, whether or not that is known. */
async function sendOff(intake: Intake, task: NewTask, answer: AcceptedAnswer): Promise<number | null> {
  // Before its own ticket can be among those in front.
  const standing = standingOf(intake, task, answer).catch(() => null);
  if (answer.entry !== null) intake.relay.add(ticketOf(task, answer.entry));
  logAccepted(intake.log, task, answer);
  if (answer.outcome) return null;
  const known = await standing;
  return known && (await estimateStart(intake.ledger, task.body, known).catch(() => null));
}

async function standingOf(intake: Intake, { body, queue, priority }: NewTask, { entry, ahead, gate }: AcceptedAnswer): Promise<Standing> {
  if (entry === null) return { ahead, gate };
  const before = await lookBeforeTicket(intake, { tenant: body.tenant, queue, priority });
  return { ahead: before.ahead, gate: before.isFull ? 'fleet' : null };
}

function logAccepted(log: Log, { body, priority, queue }: NewTask, { status, gate, ahead, outcome }: AcceptedAnswer): void {
  const fields = {
    task: body.id,
    tenant: body.tenant,
    agent: body.agent,
    source: body.source,
    priority,
    queue,
    trace: traceIdOf(body.traceparent),
  };
  if (outcome) {
    log.info({ event: 'task.created', status, outcome: outcome.kind, reason: outcome.reason, ...fields }, 'accepted, and not to run');
    return;
  }
  if (status === 'pending') {
    log.info({ event: 'task.created', gate, ahead, ...fields }, 'accepted, and waits');
    return;
  }
  log.info({ event: 'task.created', ...fields }, 'accepted');
  log.info({ event: 'task.queued', ...fields }, 'queued');
}

/** A full line moves within seconds when it moves at all. */
const WAITING_RETRY_MS = 5000;

function ticketOf({ body, priority, queue, lane }: NewTask, entry: string): Parameters<Intake['relay']['add']>[0] {
  return {
    tenant: body.tenant,
    task: body.id,
    number: 1,
    entry,
    agent: body.agent,
    lane: lane?.name ?? null,
    queue,
    priority,
    maxAttempts: body.execution.maxAttempts,
  };
}
