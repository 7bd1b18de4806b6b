import type { AgentDefinition } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import {
  type AcceptAnswer,
  type AcceptedAnswer,
  acceptNewTask,
  durably,
  isUntrusted,
  type Ledger,
  type NewTask,
  readHeads,
  readState,
} from '../../ledger/index.ts';
import { outcomeRecord, type TaskOutcome, type TaskStatus } from '../../tasks/index.ts';
import { publicTenantId, tenantClosed } from '../../tenants/index.ts';
import { makeRoomFor } from '../tickets/make-room.ts';
import { firstTicket } from '../tickets/ticket.ts';
import { REFUSAL_HELPS } from './refusal-helps.ts';
import { estimateByPace, type Standing } from '../why/pace.ts';
import { admitTask } from './admit-task.ts';
import { buildTask } from './build-task.ts';
import { bindAttachments } from './bind-attachments.ts';
import { assertTimeout } from './check-request.ts';
import { isAccepted } from './fleet-rates.ts';
import { findParentage, type Parentage, parentStopped } from './join-tree.ts';
import { logAccepted } from './log-accepted.ts';
import type { Pressure } from '../pressure/signal.ts';
import { reportPressure } from './pressure.ts';
import { type AcceptRequest, digestOf, type Intake } from './request.ts';
import { readStanding } from './standing.ts';

/**
 * Accepts a task: after this returns, it reaches exactly one terminal state.
 * Errors: `agent.unknown`, `request.invalid`, `request.too-large`, `task.idempotency-conflict`, `limit.rate`, `limit.waiting`, `limit.storage`, `limit.pressure`,
 * `limit.budget`,
 * `upload.not-found`, `task.not-found` and `task.wrong-state` (of the parent), `task.runaway`, `tenant.disabled`, `tenant.ended`, `unavailable.memory`.
 */
export async function acceptTask(intake: Intake, request: AcceptRequest): Promise<Accepted> {
  try {
    const task = await prepareTask(intake, request);
    const takeBack = await admitTask(intake, task);
    // After an error the ledger may have it.
    const answer = await acceptNewTask(intake.ledger, task);
    if (!isAccepted(answer, task.body)) await takeBack();
    return await reportAcceptance(intake, task, answer);
  } catch (error) {
    // A repeated request returns its task even when by now its deadline passed or its agent is gone.
    const earlier = error instanceof MusterError && error.code !== 'unavailable.fsync' ? await findEarlier(intake.ledger, request) : null;
    if (earlier) return earlier;
    throw error;
  }
}

/** Makes the task of a request, with all that has to be read for it. */
export async function prepareTask(intake: Intake, request: AcceptRequest): Promise<NewTask> {
  const { ledger } = intake;
  assertAllowed(ledger, request);
  const definition = await findDefinition(intake, request.tenant, request.agent);
  const { tenant, parentTaskId } = request;
  const parentage = parentTaskId === undefined ? null : await findParentage(ledger, tenant, parentTaskId);
  const task = buildTask(request, definition, ledger, parentage);
  if (await inheritsUntrusted(intake, request, parentage)) task.body.untrusted = true;
  // A skipped occurrence costs nothing.
  if (request.skip === undefined) await intake.assertBudgets?.(task.body);
  task.body.attachments = await bindAttachments(intake, task.body, request.attachments);
  return task;
}

/** Whether what made it was of words that may give no orders: the task that delegates it, or the one that it repeats. */
async function inheritsUntrusted({ ledger }: Intake, { tenant, rerunOf }: AcceptRequest, parentage: Parentage | null): Promise<boolean> {
  if (parentage?.untrusted === true) return true;
  if (rerunOf === undefined) return false;
  const head = (await readHeads(ledger, tenant, [rerunOf])).get(rerunOf);
  if (!head) throw new MusterError('task.not-found', `rerunOf: there is no task ${rerunOf.slice(0, 100)}`);
  return await isUntrusted(ledger, { ...head, tenant });
}

/** Errors: `limit.storage`, `request.invalid`. */
export function assertAllowed(ledger: Ledger, { tenant, execution }: AcceptRequest): void {
  ledger.stored.assertRoom(tenant);
  assertTimeout(ledger, tenant, 'execution.timeoutMs', execution?.timeoutMs);
}

/** Errors: `agent.unknown`. */
export async function findDefinition(intake: Pick<Intake, 'findAgent'>, tenant: string, agent: string): Promise<AgentDefinition> {
  const definition = await intake.findAgent(tenant, agent);
  if (!definition) throw new MusterError('agent.unknown', `There is no agent "${agent}"`, { details: { agent } });
  return definition;
}

/** What the same request under the same key made before; null when there is none. */
export async function findEarlier(ledger: Ledger, request: AcceptRequest): Promise<Accepted | null> {
  if (request.idempotencyKey === undefined) return null;
  const { tenant, idempotencyKey } = request;
  const stored = await ledger.redis.get(ledger.keys.tenant(tenant).idempotency(idempotencyKey));
  const [id = '', digest] = stored?.split(' ') ?? [];
  return digest === digestOf(request) ? await durably(ledger, tenant, () => readEarlier(ledger, tenant, id)) : null;
}

/** What a producer gets for its request. */
export interface Accepted {
  id: string;
  /** Null for an earlier task whose record is no longer kept. */
  status: TaskStatus | null;
  /** How many tasks are before it in its lane or backlog; 0 when it may run. */
  position: number;
  /** Milliseconds until it will start, at the pace of the tenant's last tasks; null when unknown. */
  estimatedStartMs: number | null;
  pressure: Pressure | null;
  /** What became of it, when that is known at once. */
  outcome: TaskOutcome | null;
  /** Whether an earlier request under the same key had made it. */
  isDuplicate: boolean;
}

/** A full backlog moves within seconds when it moves at all. */
const WAITING_RETRY_MS = 5000;

/**
 * Turns the ledger's answer into the producer's, and adds the ticket of an accepted task to its queue.
 * Errors: `task.idempotency-conflict`, `task.wrong-state` (of the parent), `task.runaway`, `task.takes-no-input`, `limit.rate`, `limit.waiting`,
 * `tenant.disabled`, `tenant.ended`.
 */
export async function reportAcceptance(intake: Intake, task: NewTask, answer: AcceptAnswer): Promise<Accepted> {
  const { tenant, id } = task.body;
  switch (answer.kind) {
    case 'accepted':
      return await reportAccepted(intake, task, answer);
    case 'duplicate':
      // With our own id the connection repeated our call because its reply was lost: that is no duplicate.
      return { ...(await readEarlier(intake.ledger, tenant, answer.id)), isDuplicate: answer.id !== id };
    case 'conflict':
      throw new MusterError('task.idempotency-conflict', 'This idempotency key was used for another request', {
        details: { id: answer.id },
      });
    case 'rate':
      throw new MusterError('limit.rate', `Tenant ${publicTenantId(tenant)} may not submit more ${answer.scope} tasks now`, {
        details: { scope: answer.scope, ...rateOf(intake.ledger, tenant, answer.scope), helps: REFUSAL_HELPS.rate },
        retryAfterMs: answer.retryAfterMs,
      });
    case 'stopped':
      throw parentStopped(task.body.parentTaskId, answer);
    case 'closed':
      throw tenantClosed(tenant, answer.state);
    case 'refused':
      throw new MusterError('task.takes-no-input', `The agent "${task.body.agent}" takes no input while it runs`);
    case 'repeated':
      throw new MusterError('task.runaway', answer.reason, { details: { agent: task.body.agent, source: task.body.source } });
    case 'waiting':
      throw new MusterError('limit.waiting', `${answer.waiting} tasks of tenant ${publicTenantId(tenant)} wait already`, {
        details: { waiting: answer.waiting, helps: REFUSAL_HELPS.waiting },
        retryAfterMs: WAITING_RETRY_MS,
      });
  }
}

/** The figures of the rate that refused a task. */
function rateOf(ledger: Ledger, tenant: string, scope: string): { rate?: object } {
  const [, rate] = Object.entries(ledger.limitsOf(tenant)?.rates ?? {}).find(([name]) => name === scope) ?? [];
  return rate ? { rate } : {};
}

/** A task that an earlier request made. */
async function readEarlier(ledger: Ledger, tenant: string, id: string): Promise<Accepted> {
  const state = await readState(ledger, tenant, id);
  const outcome = state?.outcome ? outcomeRecord(state.outcome) : null;
  return { id, status: state?.status ?? null, position: 0, estimatedStartMs: null, pressure: null, outcome, isDuplicate: true };
}

async function reportAccepted(intake: Intake, task: NewTask, answer: AcceptedAnswer): Promise<Accepted> {
  const standing = recordAccepted(intake, task, answer);
  logAccepted(intake, [{ task, answer }]);
  await makeRoomFor(intake, task.body.tenant, { queue: task.queue, gate: answer.gate });
  const estimatedStartMs = answer.outcome ? null : await estimateSafely(intake.ledger, task, await standing);
  return describeAccepted(intake, task, answer, estimatedStartMs);
}

/** Counts an accepted task, and adds its ticket to its queue. Returns what is before it; null when that is not known. */
export function recordAccepted(intake: Intake, task: NewTask, answer: AcceptedAnswer): Standing | Promise<Standing | null> {
  const { ledger, relay } = intake;
  const { status, entry } = answer;
  ledger.counts.taskAccepted(task.body.tenant, { queue: task.queue, priority: task.priority, source: task.body.source }, status);
  // Counted before its own ticket can be among those in front; the task is accepted whether or not this is known.
  const standing = readStanding(intake, task, answer);
  if (entry !== null) relay.add(firstTicket(task, entry));
  return standing;
}

/** What the producer of an accepted task gets. */
export function describeAccepted(
  { ledger, log }: Intake,
  task: NewTask,
  answer: AcceptedAnswer,
  estimatedStartMs: number | null,
): Accepted {
  const { id, status, ahead, depth, outcome } = answer;
  // A task for later waits for its time, and not for others.
  const waitMs = task.body.scheduledFor === null ? estimatedStartMs : null;
  const pressure = reportPressure({ ledger, log }, task, { depth, waitMs });
  return { id, status, position: ahead, estimatedStartMs, pressure, outcome, isDuplicate: false };
}

async function estimateSafely(ledger: Ledger, { body }: NewTask, standing: Standing | null): Promise<number | null> {
  return standing && (await estimateByPace(ledger, body, standing).catch(() => null));
}
