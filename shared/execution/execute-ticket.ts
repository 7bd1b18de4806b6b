import {
  type AdoptAnswer,
  beginAttempt,
  type ClaimIsolation,
  claimTask,
  type Ledger,
  readAttemptOutput,
  readReportedUsage,
  type TaskPlace,
  type TicketClaim,
} from '../ledger/index.ts';
import type { TicketData, TicketResult } from '../queue/index.ts';
import { isRedisUnavailable, redisNow, retryWhileAway } from '../redis/index.ts';
import type { TaskState } from '../tasks/index.ts';
import { wait } from '../time/index.ts';
import { countStart } from './count-attempt.ts';
import { type Execution, openExecution, type OpenExecutionParts } from './execution.ts';
import { releaseLostClaim, type ReleaseLostClaimParts } from './release-lost-claim.ts';
import { runToEnd, type RunToEndParts } from './run-to-end.ts';
import { logStart, mayTurnBack } from './turned-back.ts';

export interface ExecuteTicketParts extends OpenExecutionParts, ReleaseLostClaimParts, RunToEndParts {
  /** Whether this process takes tasks under which a process was lost. */
  isolation: () => ClaimIsolation | undefined;
  /** The daemon that runs the attempt; absent for agents of this process. */
  daemon?: string;
  /** Runs the ticket of such a task in a process for suspects, which claims it; `losses`: how many processes were lost under it. */
  runIsolated: (ticket: TicketData, how: TicketClaim, losses: number) => Promise<TicketResult>;
}

const RETURNED: TicketResult = { kind: 'returned' };

/** After a claim that Redis did not answer, its ticket comes up again after this. */
const UNANSWERED_MS = 1000;

/** Takes one ticket to its end: claim, run, classify, settle, report. Throws only on mistakes of ours. */
export async function executeTicket(parts: ExecuteTicketParts, ticket: TicketData, how: TicketClaim = {}): Promise<TicketResult> {
  if (how.claimed) return await executeClaimed(parts, how.claimed);
  if (parts.isDraining()) return RETURNED;
  const place: TaskPlace = { tenant: ticket.tenant, id: ticket.task, lane: ticket.lane ?? null };
  try {
    return await claimAndExecute(parts, place, { ticket, how });
  } catch (error) {
    if (!isRedisUnavailable(error)) throw error;
    // Here and not as a delay of BullMQ's, which other workers count by their own clocks.
    if (!(await releaseLostClaim(parts, place))) await wait(UNANSWERED_MS);
    return RETURNED;
  }
}

/** The same of a task that was claimed with its ticket. */
async function executeClaimed(parts: ExecuteTicketParts, claimed: NonNullable<TicketClaim['claimed']>): Promise<TicketResult> {
  const { body, state, sentAt } = claimed;
  const place: TaskPlace = { tenant: body.tenant, id: body.id, lane: state.lane ?? null };
  if (!parts.isDraining()) return await executeAttempt(parts, openExecution(parts, place, claimed, sentAt));
  await releaseLostClaim(parts, place, 'the worker ends');
  return RETURNED;
}

async function claimAndExecute(
  parts: ExecuteTicketParts,
  place: TaskPlace,
  { ticket, how }: { ticket: TicketData; how: TicketClaim },
): Promise<TicketResult> {
  const claimedFrom = parts.clock.monotonic();
  const claim = await claimTask(parts.ledger, place, parts.worker, { isolation: parts.isolation(), daemon: parts.daemon });
  switch (claim.kind) {
    case 'claimed':
      return await executeAttempt(parts, openExecution(parts, place, claim, claimedFrom));
    case 'suspect':
      // Others that were claimed with it have taken the room: this claim parks it.
      if (parts.isolation() === 'full') return await claimAndExecute(parts, place, { ticket, how });
      return await parts.runIsolated(ticket, how, claim.losses);
    case 'busy':
      // The connection may have sent the claim twice because its first answer was lost: then this worker itself has the task.
      if (await releaseLostClaim(parts, place)) return RETURNED;
      break;
    case 'parked':
      parts.onWaiting();
      break;
    case 'ended':
    case 'unknown':
  }
  return { kind: 'done', note: `nothing to do: ${claim.kind}` };
}

/** Goes on with an attempt that another hub claimed, and that this one has adopted. Its daemon has it, and so has accepted it. */
export async function resumeAttempt(
  parts: ExecuteTicketParts,
  place: Omit<TaskPlace, 'lane'>,
  adopted: Extract<AdoptAnswer, { kind: 'adopted' }>,
): Promise<TicketResult> {
  const begun = adopted.state.status === 'scheduled' ? await beginAttempt(parts.ledger, { ...place, token: adopted.state.token }) : adopted;
  if (begun.kind === 'lost') return { kind: 'done', note: 'nothing to do: its attempt is over' };
  const { state, stored } = begun;
  // It started earlier, and its timeout and end count from there.
  const claimed = {
    ...adopted,
    state,
    stored,
    kind: 'claimed',
    redisTime: await redisNow(parts.ledger.redis),
    startedAt: state.startedAt,
    isResumed: true,
  } as const;
  const execution = openExecution(parts, { ...place, lane: state.lane ?? null }, claimed, parts.clock.monotonic());
  const { attempt } = execution;
  parts.keeper.add(attempt);
  if (begun.kind === 'begun') noteStart(parts.ledger, execution, state);
  if (attempt.takesInput) attempt.notifyInput();
  try {
    await retryWhileAway(() => resumeReports(parts.ledger, execution), { signal: () => attempt.signal });
  } catch (error) {
    // Its lease would be renewed for as long as this process lives.
    parts.keeper.abandon(attempt);
    throw error;
  }
  return await runToEnd(parts, execution);
}

/** Goes on from what attempts before, and the hub before, kept of the run: its end may come before its daemon says all of it again. */
async function resumeReports(ledger: Ledger, { attempt: { ref }, state, output, usage, journal }: Execution): Promise<void> {
  await journal.open();
  const [written, used] = await Promise.all([
    // Its first output may be older than its start, which is written when its daemon's acceptance arrives.
    readAttemptOutput(ledger, { ...ref, startedAt: state.scheduledAt ?? 0 }),
    readReportedUsage(ledger, ref),
  ]);
  output.resume(written);
  usage.resume(used);
}

async function executeAttempt(parts: ExecuteTicketParts, execution: Execution): Promise<TicketResult> {
  const { state, attempt, log } = execution;
  const { ledger, keeper } = parts;
  keeper.add(attempt);
  // Messages that an earlier attempt was offered may still wait, and no signal comes for them again.
  if (attempt.takesInput && state.token > 1) attempt.notifyInput();
  if (!mayTurnBack(state)) log.info({ event: 'task.scheduled', worker: parts.worker }, 'given to a worker');
  if (state.status === 'running') noteStart(ledger, execution, state);
  return await runToEnd(parts, execution);
}

/** The daemon of an attempt has accepted it. Resolves once the ledger knows, or the attempt is over. */
export async function acceptAttempt(ledger: Ledger, execution: Execution): Promise<void> {
  const { attempt } = execution;
  try {
    const begun = await retryWhileAway(() => beginAttempt(ledger, attempt.ref), { signal: () => attempt.signal });
    if (begun.kind === 'lost') return attempt.stop({ kind: 'lease-lost' });
    attempt.changed(begun.stored);
    attempt.begin();
    if (begun.kind === 'begun') noteStart(ledger, execution, begun.state);
  } catch (error) {
    // It was stopped while Redis was away.
    if (!attempt.stopped) throw error;
  }
}

/** Counts the start of an attempt, and logs it, of one that may be turned back again once it was not. `state`: as it began. */
function noteStart(ledger: Ledger, execution: Execution, state: TaskState): void {
  countStart(ledger, { body: execution.body, state });
  if (!mayTurnBack(state)) logStart(execution, state);
}
