import type { AgentLog } from '#shared/config/index.ts';
import { type ClaimAnswer, type ClaimIsolation, claimTask, type SettleAnswer, type TaskPlace, type Verdict } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import { isTerminal } from '#shared/tasks/index.ts';
import type { TicketData, TicketEnd } from '#shared/queue/index.ts';
import { isRedisUnavailable } from '#shared/redis/index.ts';
import { type Clock, wait } from '#shared/time/index.ts';
import { AttemptLog } from './attempt-log.ts';
import { AttemptOutput } from './attempt-output.ts';
import { carryOutWrits, mayHaveWrits, type CarryOutWritsParts } from './carry-out-writs.ts';
import { giveBackClaim } from './give-back-claim.ts';
import { judgeAttempt } from './judge-attempt.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { runAttempt, type ClaimedAttempt, type RunAttemptParts } from './run-attempt.ts';
import { RunningAttempt } from './running-attempt.ts';
import { settleSurely } from './settle-surely.ts';
import { TaskLogWriter } from './task-log/task-log-writer.ts';

export interface HandleTicketParts extends RunAttemptParts, CarryOutWritsParts {
  keeper: LeaseKeeper;
  clock: Clock;
  log: Log;
  /** This worker's name, as records show it. */
  worker: string;
  /** Told when a task was made to wait for a time, which may be near. */
  onWaiting: () => void;
  /** Takes secrets out of what is recorded of a task. */
  redact: (text: string) => string;
  /** What this process is, now, to tasks under which a process was lost. */
  isolation: () => ClaimIsolation;
  /** Runs the ticket of such a task where it can take nothing else down; `losses`: how often that happened. */
  runIsolated: (ticket: TicketData, losses: number) => Promise<TicketEnd>;
  /** Whether the worker is ending and takes nothing new. */
  isDraining(): boolean;
}

type Claimed = Extract<ClaimAnswer, { kind: 'claimed' }>;

/** When Redis did not answer a claim, its ticket is looked at again after this. */
const UNSURE_MS = 1000;

/** Takes one ticket from claim to settlement: claim, run, judge, settle, report. Throws only on mistakes of ours. */
export async function handleTicket(parts: HandleTicketParts, ticket: TicketData): Promise<TicketEnd> {
  if (parts.isDraining()) return { kind: 'later', at: 0 };
  const place: TaskPlace = {
    tenant: ticket.tenant,
    id: ticket.task,
    lane: ticket.lane ?? null,
  };
  const claimedFrom = parts.clock.monotonic();
  try {
    const claim = await claimTask(parts.ledger, place, parts.worker, parts.isolation());
    if (claim.kind === 'claimed') return await runClaimed(parts, place, claim, claimedFrom);
    if (claim.kind === 'suspect') return await parts.runIsolated(ticket, claim.losses);
    return await refused(parts, place, claim);
  } catch (error) {
    if (!isRedisUnavailable(error)) throw error;
    // Here and not as a delay of BullMQ's, which other workers count by their own clocks.
    if (!(await giveBackClaim(parts, place))) await wait(UNSURE_MS);
    return { kind: 'later', at: 0 };
  }
}

/** A ticket whose task may not run now: it waits, or there is nothing to do for it. */
async function refused(
  parts: HandleTicketParts,
  place: TaskPlace,
  claim: Exclude<ClaimAnswer, Claimed | { kind: 'suspect' }>,
): Promise<TicketEnd> {
  // The connection sent the claim again because its answer was lost, and it was busy with itself.
  if (claim.kind === 'busy' && (await giveBackClaim(parts, place))) return { kind: 'later', at: 0 };
  if (claim.kind === 'parked') parts.onWaiting();
  return { kind: 'done', note: `nothing to do: ${claim.kind}` };
}

async function runClaimed(
  parts: HandleTicketParts,
  place: TaskPlace,
  { body, state, stored }: Claimed,
  claimedFrom: number,
): Promise<TicketEnd> {
  const { ledger, keeper, clock } = parts;
  const attempt = new RunningAttempt({
    ref: { ...place, token: state.token },
    stored,
    first: body.first,
    takesInput: state.takesInput ?? false,
    claimedAt: { redis: state.startedAt ?? clock.now(), monotonic: clock.monotonic() },
    heldUntil: claimedFrom + ledger.settings.worker.leaseMs,
    clock,
  });
  const log = new AttemptLog(parts.log, body, state.attempt);
  const output = new AttemptOutput({ ledger, log, attempt, number: state.attempt });
  const taskLog = new TaskLogWriter({ ledger, attempt, number: state.attempt, log, redact: parts.redact });
  keeper.keep(attempt);
  // Messages that an earlier attempt was offered may wait still, and nobody says so again.
  if (attempt.takesInput && state.token > 1) attempt.tellOfInput();
  log.info({ event: 'task.scheduled', worker: parts.worker }, 'given to a worker');
  log.info({ event: 'task.started', queuedMs: state.createdAt ? (state.startedAt ?? 0) - state.createdAt : 0 }, 'started');
  try {
    return await runKept(parts, { body, state, attempt, output, taskLog, log, claimedFrom });
  } catch (error) {
    // A mistake of ours. What stayed kept would have its lease renewed for ever; let go, the task goes on elsewhere.
    keeper.release(attempt);
    log.error({ event: 'attempt.given-up', err: error }, 'an attempt could not be brought to its end');
    throw error;
  }
}

interface Kept extends ClaimedAttempt {
  claimedFrom: number;
}

async function runKept(parts: HandleTicketParts, { claimedFrom, ...claimed }: Kept): Promise<TicketEnd> {
  const { ledger, clock } = parts;
  const { body, state, attempt, output, taskLog, log } = claimed;
  const answer = await runAttempt(parts, claimed);
  if (output.text !== '') await output.end();
  await taskLog.end();
  const ending = mayHaveWrits(answer) ? await carryOutWrits(parts, { body, attempt, log }, answer) : answer;
  const now = attempt.redisNow(clock.monotonic());
  const verdict = judgeAttempt(ending, { body, state, settings: ledger.settings, now, redact: parts.redact });
  const settling = settle(parts, { attempt, verdict, log, claimedFrom });
  if (verdict.kind !== 'completed') return await settling;
  // Whatever the ledger answers, a completed attempt needs its ticket no more, so BullMQ hears of it at the same time. Should
  // this process die in between, the lease runs out and the task gets another ticket.
  settling.catch((error: unknown) => log.error({ err: error }, 'a result could not be settled'));
  return { kind: 'done', note: 'completed' };
}

interface Judged {
  attempt: RunningAttempt;
  verdict: Verdict;
  log: AgentLog;
  claimedFrom: number;
}

async function settle(
  { ledger, keeper, clock, onWaiting }: HandleTicketParts,
  { attempt, verdict, log, claimedFrom }: Judged,
): Promise<TicketEnd> {
  try {
    const settled = await settleSurely(ledger, clock, attempt, verdict);
    report(log, verdict, settled, clock.monotonic() - claimedFrom);
    const end = ticketEnd(verdict, settled);
    if (end.kind === 'done' && verdict.kind !== 'completed') onWaiting();
    return end;
  } finally {
    keeper.release(attempt);
  }
}

function report(log: AgentLog, verdict: Verdict, answer: SettleAnswer, tookMs: number): void {
  const fields = {
    durationMs: Math.round(tookMs),
    ...('error' in verdict && verdict.error
      ? { code: verdict.error.code, reason: verdict.error.message, details: verdict.error.details }
      : {}),
  };
  if (answer.kind === 'lost') {
    log.warn({ event: 'task.lost', ...fields }, 'the lease was gone; the task is not this attempt’s any more');
    return;
  }
  const event = `task.${verdict.kind}`;
  if (verdict.kind === 'failed' || verdict.kind === 'timeout')
    log.warn({ event, willRetry: verdict.delayMs !== null, ...fields }, verdict.kind);
  else log.info({ event, ...fields }, verdict.kind);
  if (answer.status === 'permanently_failed') log.error({ event: 'task.permanently_failed', ...fields }, 'failed for good');
}

function ticketEnd(verdict: Verdict, answer: SettleAnswer): TicketEnd {
  if (answer.kind === 'lost') return { kind: 'done', note: 'the lease was lost' };
  const message = messageOf(verdict) ?? answer.status;
  if (answer.status === 'permanently_failed') return { kind: 'failed', message };
  const delayMs = 'delayMs' in verdict ? (verdict.delayMs ?? 0) : 0;
  if (isTerminal(answer.status)) return { kind: 'done', note: answer.status };
  return delayMs > 0 ? { kind: 'done', note: `${message}; gets another ticket in ${delayMs} ms` } : { kind: 'later', at: 0 };
}

function messageOf(verdict: Verdict): string | null {
  return 'error' in verdict && verdict.error ? `${verdict.error.code}: ${verdict.error.message}` : null;
}
