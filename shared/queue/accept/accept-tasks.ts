import type { AgentDefinition } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import { type AcceptedAnswer, acceptNewTasks, type NewTask } from '../../ledger/index.ts';
import { makeRoomFor, mayNeedRoom } from '../tickets/make-room.ts';
import { dependsOnPace, estimateAtPace, type Pace, paceOf, type Standing, UNKNOWN_PACE } from '../why/pace.ts';
import {
  type Accepted,
  acceptTask,
  assertAllowed,
  describeAccepted,
  findDefinition,
  findEarlier,
  recordAccepted,
  reportAcceptance,
} from './accept-task.ts';
import { buildTask } from './build-task.ts';
import { logAccepted } from './log-accepted.ts';
import { assertNotShed, mayBeShed } from './pressure.ts';
import type { AcceptRequest, Intake } from './request.ts';

/** What became of one request among many: its acceptance, or the error of a call with this request only. */
type AcceptResult = Accepted | Error;

/** The agents that requests name, or why one is not there. */
type Definitions = ReadonlyMap<string, AgentDefinition | Error>;

/** Results by the place of their request; some are still to come. */
type Results = (AcceptResult | Promise<AcceptResult>)[];

/** A task that is accepted together with others, and where its request stands. */
interface Offer {
  readonly place: number;
  readonly request: AcceptRequest;
  readonly task: NewTask;
}

/**
 * Accepts many tasks of one tenant and key, each as `acceptTask` would: in few calls to Redis, and with what they share read once. Results are in
 * the order of the requests.
 */
export async function acceptTasks(intake: Intake, requests: readonly AcceptRequest[]): Promise<AcceptResult[]> {
  const definitions = await findDefinitions(intake, requests);
  const results: Results = [];
  const offers: Offer[] = [];
  for (const [place, request] of requests.entries()) {
    const task = prepareOffer(intake, request, definitions);
    if (task === null) results[place] = acceptTask(intake, request).catch(toError);
    else if (task instanceof Error) results[place] = refuse(intake, request, task);
    else offers.push({ place, request, task });
  }
  await acceptOffers(intake, await withoutShed(intake, offers, results), results);
  const settled: AcceptResult[] = [];
  for (const result of results) settled.push(result instanceof Promise ? await result : result);
  return settled;
}

/** Each agent once. Requests with an unknown one, or one without money, have the same error. */
async function findDefinitions(intake: Intake, requests: readonly AcceptRequest[]): Promise<Definitions> {
  const { tenant = '', keyId = null } = requests[0] ?? {};
  const agents = [...new Set(requests.map(({ agent }) => agent))];
  const find = async (agent: string): Promise<AgentDefinition> => {
    const definition = await findDefinition(intake, tenant, agent);
    await intake.assertBudgets?.({ tenant, agent, keyId, scheduleId: null, trigger: null });
    return definition;
  };
  return new Map(await Promise.all(agents.map(async (agent) => [agent, await find(agent).catch(toError)] as const)));
}

/** The task of a request, or its refusal; null for a task that needs a call of its own: it meets other tasks, or a rate of the fleet. */
function prepareOffer({ ledger }: Intake, request: AcceptRequest, definitions: Definitions): NewTask | Error | null {
  if (
    request.parentTaskId !== undefined ||
    request.rerunOf !== undefined ||
    request.mode !== undefined ||
    request.attachments !== undefined
  )
    return null;
  try {
    assertAllowed(ledger, request);
    const definition = definitions.get(request.agent);
    if (definition === undefined || definition instanceof Error) return definition ?? null;
    const task = buildTask(request, definition, ledger, null);
    return ledger.fleetRates.bounds(task.rateClass) ? null : task;
  } catch (error) {
    return toError(error);
  }
}

/** The offers that are not refused under pressure. */
async function withoutShed(intake: Intake, offers: readonly Offer[], results: Results): Promise<Offer[]> {
  const kept: Offer[] = [];
  for (const offer of offers) {
    const shed = mayBeShed(intake.ledger, offer.task) ? await assertNotShed(intake, offer.task).then(() => null, toError) : null;
    if (shed) results[offer.place] = refuse(intake, offer.request, shed);
    else kept.push(offer);
  }
  return kept;
}

interface Entered extends Offer {
  readonly answer: AcceptedAnswer;
  readonly standing: Standing | Promise<Standing | null>;
}

async function acceptOffers(intake: Intake, offers: readonly Offer[], results: Results): Promise<void> {
  const tasks = offers.map(({ task }) => task);
  const answers = await acceptNewTasks(intake.ledger, tasks);
  const entered: Entered[] = [];
  for (const [at, offer] of offers.entries()) {
    const { place, request, task } = offer;
    const answer = answers[at] ?? new Error(`The task ${task.body.id} got no answer`);
    if (answer instanceof Error) results[place] = answer;
    else if (answer.kind === 'accepted') entered.push({ ...offer, answer, standing: recordAccepted(intake, task, answer) });
    else results[place] = reportAcceptance(intake, task, answer).catch((error: unknown) => refuse(intake, request, toError(error)));
  }
  logAccepted(intake, entered);
  await describeEntered(intake, entered, results);
}

async function describeEntered(intake: Intake, entered: readonly Entered[], results: Results): Promise<void> {
  // One call makes room for all critical tasks of the tenant.
  const critical = entered.find(({ task, answer }) => mayNeedRoom({ queue: task.queue, gate: answer.gate }));
  if (critical) await makeRoomFor(intake, critical.task.body.tenant, { queue: critical.task.queue, gate: critical.answer.gate });
  let pace: Pace | undefined;
  for (const { place, task, answer, standing } of entered) {
    const known = standing instanceof Promise ? await standing : standing;
    const before = answer.outcome ? null : known;
    if (before && pace === undefined && dependsOnPace(before))
      pace = await paceOf(intake.ledger, task.body.tenant).catch(() => UNKNOWN_PACE);
    results[place] = describeAccepted(intake, task, answer, before && estimateAtPace(task.body, before, pace ?? UNKNOWN_PACE));
  }
}

/** A repeated request returns its task even when by now its deadline passed or its agent is gone. */
async function refuse(intake: Intake, request: AcceptRequest, error: Error): Promise<AcceptResult> {
  if (!(error instanceof MusterError)) return error;
  return (await findEarlier(intake.ledger, request).catch(toError)) ?? error;
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
