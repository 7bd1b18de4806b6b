import { MusterError } from '../../errors/index.ts';
import { laneOfTask, offerMessage, readTaskRow } from '../../ledger/index.ts';
import { hasAttempt, type Task } from '../../tasks/index.ts';
import { type Accepted, findDefinition, findEarlier, reportAcceptance } from './accept-task.ts';
import { explainWait } from '../why/explain-wait.ts';
import { buildTask } from './build-task.ts';
import { isAccepted, takeFleetRate } from './fleet-rates.ts';
import type { AcceptRequest, Intake } from './request.ts';

export interface InputRequest {
  tenant: string;
  /** The running task. */
  task: string;
  input: string;
  /** Who wrote it; by default the user of the running task. */
  user?: string;
  /** Whether that is only what the caller of the API said. */
  isUserClaimed?: true;
  idempotencyKey?: string;
  /** W3C trace context of the caller. */
  traceparent?: string;
}

/**
 * Offers input to a running task, as a task of its own in the same lane: input that the running task does not take runs as the next turn.
 * Errors: `task.not-found`, `task.not-running`, `task.takes-no-input`, and those of `acceptTask`.
 */
export async function offerInput(intake: Intake, input: InputRequest): Promise<Accepted> {
  const target = await readTaskRow(intake.ledger, input.tenant, input.task);
  if (!target) throw new MusterError('task.not-found', `There is no task ${input.task}`);
  const request = requestFor(target, input);
  // A repeated request returns its task even when by now the running one ended.
  const earlier = await findEarlier(intake.ledger, request);
  if (earlier) return earlier;
  if (!hasAttempt(target.state.status)) throw await notRunning(intake, target);
  const definition = await findDefinition(intake, input.tenant, target.body.agent);
  const task = buildTask(request, definition, intake.ledger, null);
  const giveBack = await takeFleetRate(intake.ledger, task);
  const answer = await offerMessage(intake.ledger, task, input.task);
  if (!isAccepted(answer, task.body)) giveBack();
  if (answer.kind === 'refused' && answer.why === 'not-running') throw await notRunning(intake, target);
  return await reportAcceptance(intake, task, answer);
}

/** Names what the task waits for, when it does, in the words of `why`. */
async function notRunning(intake: Intake, task: Task): Promise<MusterError> {
  const { status, reasons, gates } = await explainWait(intake, task);
  const [first] = reasons;
  const helps = gates.find(({ gate }) => gate === first?.gate)?.helps ?? null;
  const waits = first === undefined ? '' : `; it waits: ${first.detail}`;
  return new MusterError('task.not-running', `The task ${task.body.id} does not run${waits}`, {
    details: { status, gate: first?.gate ?? null, helps },
  });
}

/** As if the running task's own user had written another message. */
function requestFor({ body, state }: Task, request: InputRequest): AcceptRequest {
  const { tenant, task, input, idempotencyKey, traceparent, user = body.user } = request;
  const isUserClaimed = request.user === undefined ? body.isUserClaimed : (request.isUserClaimed ?? null);
  const lane = { name: state.lane ?? laneOfTask(task), limit: state.laneLimit ?? 1 };
  return {
    tenant,
    agent: body.agent,
    input,
    source: body.source === 'chat' ? 'chat' : 'api',
    mode: 'steer',
    priority: state.priority,
    ...(body.session === null ? { lane } : { session: body.session }),
    ...origin({ ...body, user, isUserClaimed }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey, idempotencyBody: JSON.stringify({ task, input, user: request.user }) }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Where it came from and who is answered. */
function origin({ channel, correlationId, user, isUserClaimed, reply }: Task['body']): Partial<AcceptRequest> {
  return {
    ...(channel === null ? {} : { channel }),
    ...(correlationId === null ? {} : { correlationId }),
    ...(user === null ? {} : { user }),
    ...(isUserClaimed === null ? {} : { isUserClaimed }),
    ...(reply === null ? {} : { reply }),
  };
}
