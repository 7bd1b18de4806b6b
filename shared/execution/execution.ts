import { spendSubject } from '../budgets/index.ts';
import type { AgentLog } from '../config/index.ts';
import type { ClaimAnswer, Ledger, TaskPlace } from '../ledger/index.ts';
import type { Log, Span } from '../log/index.ts';
import type { AttemptAccount, AttemptModels, EndpointRequests, ModelCalls } from '../models/index.ts';
import { priorityBand, type TaskBody, type TaskState } from '../tasks/index.ts';
import type { Clock } from '../time/index.ts';
import type { FilePorts } from './attempt/attachment-opener.ts';
import { AttemptFiles } from './attempt/attempt-files.ts';
import { AttemptLog } from './attempt/attempt-log.ts';
import { AttemptOutput } from './attempt/attempt-output.ts';
import { AttemptUsage } from './attempt/attempt-usage.ts';
import { startAttemptSpan } from './attempt/attempt-span.ts';
import { AttemptSpend } from './attempt/attempt-spend.ts';
import { AttemptTokens } from './attempt/attempt-tokens.ts';
import { RunCheckpoint } from './attempt/run-checkpoint.ts';
import { RunSessions } from './attempt/run-sessions.ts';
import { RunningAttempt } from './attempt/running-attempt.ts';
import { TaskLogWriter } from './attempt/task-log-writer.ts';
import { AttemptJournal } from './journal/attempt-journal.ts';

/** One attempt on its way from its claim to its settlement. Every step takes it. */
export interface Execution {
  readonly body: TaskBody;
  /** As the claim left it; see `attempt.stored` for what changed since. */
  readonly state: TaskState;
  readonly attempt: RunningAttempt;
  readonly output: AttemptOutput;
  readonly journal: AttemptJournal;
  readonly taskLog: TaskLogWriter;
  readonly usage: AttemptUsage;
  /** Its agent's model calls pass through these. */
  readonly models: AttemptModels;
  /** Its agent's requests to endpoints that are no models pass through these. */
  readonly requests: EndpointRequests;
  /** Its agent's program runs through this, where it calls a provider itself. */
  readonly account: AttemptAccount;
  readonly spend: AttemptSpend;
  readonly tokens: AttemptTokens;
  readonly files: AttemptFiles;
  readonly checkpoint: RunCheckpoint;
  readonly sessions: RunSessions;
  readonly log: AgentLog;
  /** Undefined where its trace is not recorded. */
  readonly span: Span | undefined;
  /** When the claim was sent, in monotonic milliseconds. */
  readonly claimedFrom: number;
  /** Whether its agent runs already, on a daemon, since another hub claimed it. */
  readonly isResumed?: true;
}

export interface OpenExecutionParts {
  fileParts: FilePorts;
  ledger: Ledger;
  modelCalls: ModelCalls;
  clock: Clock;
  log: Log;
  /** Takes secrets out of what is recorded of a task. */
  redact: (text: string) => string;
}

interface Claimed extends Pick<Extract<ClaimAnswer, { kind: 'claimed' }>, 'body' | 'state' | 'stored'> {
  /** Now by Redis's clock, ms since the epoch; by default the attempt starts now. */
  redisTime?: number;
  /** Of an attempt that another hub began, ms since the epoch; by default now. */
  startedAt?: number | undefined;
  isResumed?: Execution['isResumed'];
}

/** What belongs to a claimed attempt in this process. Opens nothing. */
export function openExecution(
  { ledger, clock, log: parent, redact, modelCalls, fileParts }: OpenExecutionParts,
  place: TaskPlace,
  { body, state, stored, startedAt, redisTime = state.startedAt ?? state.scheduledAt, isResumed }: Claimed,
  claimedFrom: number,
): Execution {
  const attempt = new RunningAttempt({
    ref: { ...place, token: state.token },
    stored,
    first: body.first,
    takesInput: state.takesInput ?? false,
    claimedAt: { redis: redisTime ?? clock.now(), monotonic: clock.monotonic() },
    isAssigned: state.status === 'scheduled',
    heldUntil: claimedFrom + ledger.settings.worker.leaseMs,
    clock,
  });
  const log = new AttemptLog(parent, body, state);
  const output = new AttemptOutput({ ledger, log, attempt, number: state.attempt, isReplayed: body.request !== null });
  const isSuspect = state.losses !== undefined;
  const journal = new AttemptJournal({
    ledger,
    files: fileParts.files,
    attempt,
    output,
    number: state.attempt,
    agent: body.agent,
    isSuspect,
    isContinued: body.trigger === 'retry' || isResumed === true,
    asking: state.asking?.entry,
  });
  const taskLog = new TaskLogWriter({ ledger, attempt, number: state.attempt, log, redact });
  const spend = new AttemptSpend({ attempt, body, holder: state.worker ?? '' });
  const tokens = new AttemptTokens({ ledger, attempt, body });
  const usage = new AttemptUsage({
    ledger,
    attempt,
    body,
    log,
    onEach: (used) => journal.addUsage(used),
    onReport: (reported) => spend.report(reported),
    onUsed: (used) => tokens.report(used),
  });
  const caller = callerOf(ledger, { attempt, body, state });
  const account = modelCalls.openAccount({ caller, signal: () => attempt.signal });
  const models = modelCalls.open({
    caller,
    signal: () => attempt.signal,
    onUsage: (used) => usage.addCall(used),
    redact,
    onNote: (note) => taskLog.agentLog.warn({ event: 'model.fallback' }, note),
  });
  const requests = modelCalls.openRequests({ ref: attempt.ref, agent: body.agent });
  const about = { attempt, number: state.attempt, timeoutMs: state.timeoutMs, log: taskLog.agentLog };
  const files = new AttemptFiles({ ...about, ports: fileParts });
  const checkpoint = new RunCheckpoint({ ...about, ledger, journal, fileLinks: fileParts.fileLinks });
  const own = { body, state, attempt, output, journal, taskLog, usage, models, requests, account, spend, tokens };
  const sessions = new RunSessions({ ledger, files: fileParts.files, attempt, body, createdAt: state.createdAt, number: state.attempt });
  const left = { files, checkpoint, sessions, claimedFrom, ...(isResumed && { isResumed }) };
  return { ...own, ...left, log, span: startAttemptSpan(ledger, body, state, startedAt) };
}

/** Whose model calls they are. */
function callerOf(
  ledger: Ledger,
  { attempt, body, state }: Pick<Execution, 'attempt' | 'body' | 'state'>,
): Parameters<ModelCalls['open']>[0]['caller'] {
  return {
    ref: attempt.ref,
    agent: body.agent,
    subject: spendSubject(body),
    band: priorityBand(state.queue, state.priority),
    weight: weightOf(ledger, body.tenant),
  };
}

/** Of a tenant among others that wait for a provider. */
function weightOf({ limitsOf }: Ledger, tenant: string): number {
  return limitsOf(tenant)?.weight ?? 1;
}
