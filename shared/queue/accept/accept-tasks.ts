import type { AgentDefinition } from '../../config/index.ts';
import { ERROR_CODES, MusterError } from '../../errors/index.ts';
import { type AcceptedAnswer, acceptNewTasks, type Ledger, type NewTask } from '../../ledger/index.ts';
import { makeRoomFor, mayNeedRoom } from '../tickets/make-room.ts';
import { dependsOnPace, estimateAtPace, type Pace, paceOf, type Standing, UNKNOWN_PACE } from '../why/pace.ts';
import {
  type Accepted,
  assertAllowed,
  describeAccepted,
  findDefinition,
  findEarlier,
  prepareTask,
  recordAccepted,
  reportAcceptance,
} from './accept-task.ts';
import { admitTask } from './admit-task.ts';
import { buildTask } from './build-task.ts';
import { isAccepted } from './fleet-rates.ts';
import { logAccepted } from './log-accepted.ts';
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
  /** Takes back what counted it, when it is not accepted after all. */
  takeBack(): Promise<void>;
}

/**
 * Accepts many tasks of one tenant and key, each as `acceptTask` would: in few calls to Redis, and with what they share read once. Results are in
 * the order of the requests. So do the tasks of each session start: behind one that is refused for now, the others of its session are refused
 * with it, so that all of them may be sent again.
 */
export async function acceptTasks(intake: Intake, requests: readonly AcceptRequest[]): Promise<AcceptResult[]> {
  const definitions = await findDefinitions(intake, requests);
  const offers = await Promise.all(requests.map((request, place) => prepareOffer(intake, { request, place }, definitions)));
  const results: Results = [];
  await acceptOffers(intake, await inOrder(intake, requests, offers, results), results);
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

/** What a request offers to the ledger, or why it is refused before. */
async function prepareOffer(
  intake: Intake,
  { request, place }: Pick<Offer, 'request' | 'place'>,
  definitions: Definitions,
): Promise<Offer | Error> {
  try {
    const { parentTaskId, rerunOf, attachments } = request;
    const hasMoreToRead = parentTaskId !== undefined || rerunOf !== undefined || attachments !== undefined;
    const task = hasMoreToRead ? await prepareTask(intake, request) : taskOf(intake.ledger, request, definitions);
    return { request, place, task, takeBack: await admitTask(intake, task) };
  } catch (error) {
    return toError(error);
  }
}

function taskOf(ledger: Ledger, request: AcceptRequest, definitions: Definitions): NewTask {
  assertAllowed(ledger, request);
  const definition = definitions.get(request.agent);
  if (definition === undefined || definition instanceof Error) throw definition ?? new Error(`The agent ${request.agent} was not read`);
  return buildTask(request, definition, ledger, null);
}

/** The offers for the ledger: no refused request, and none behind one of its session that may come again. */
async function inOrder(
  intake: Intake,
  requests: readonly AcceptRequest[],
  offers: readonly (Offer | Error)[],
  results: Results,
): Promise<Offer[]> {
  const kept: Offer[] = [];
  /** By session. */
  const refused = new Map<string, Error>();
  for (const [place, request] of requests.entries()) {
    const offer = offers[place] ?? new Error('A request was not read');
    const before = refused.get(request.session ?? '');
    if (before === undefined && !(offer instanceof Error)) kept.push(offer);
    else results[place] = await refuseOffer(intake, { request, offer, before }, refused);
  }
  return kept;
}

interface Refused {
  request: AcceptRequest;
  offer: Offer | Error;
  /** Of one before it in its session. */
  before: Error | undefined;
}

/** Refuses a request and, when it may come again, what is behind it in its session. */
async function refuseOffer(intake: Intake, { request, offer, before }: Refused, refused: Map<string, Error>): Promise<AcceptResult> {
  if (!(offer instanceof Error)) await offer.takeBack();
  const result = await refuse(intake, request, before ?? toError(offer));
  if (result instanceof Error && request.session !== undefined && mayComeAgain(result)) refused.set(request.session, result);
  return result;
}

/** Whether a request that got this error may be accepted when it is sent again. */
function mayComeAgain(error: Error): boolean {
  return !(error instanceof MusterError) || ERROR_CODES[error.code].retry === 'later';
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
    if (!(answer instanceof Error) && !isAccepted(answer, task.body)) await offer.takeBack();
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
    if (before && pace === undefined && dependsOnPace(intake.ledger, before))
      pace = await paceOf(intake.ledger, task.body.tenant).catch(() => UNKNOWN_PACE);
    results[place] = describeAccepted(
      intake,
      task,
      answer,
      before && estimateAtPace(intake.ledger, task.body, before, pace ?? UNKNOWN_PACE),
    );
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
