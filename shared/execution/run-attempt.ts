import { type AgentRun, type Diagnostics, keepsJournal } from '../agents/index.ts';
import type { SpendPorts } from '../budgets/index.ts';
import type { AgentDefinition, AgentResult } from '../config/index.ts';
import { TaskFailure } from '../errors/index.ts';
import { assertAgentStarts, type AttemptEnd, type Completion, type Ledger, readCut } from '../ledger/index.ts';
import { retryWhileAway } from '../redis/index.ts';
import { isDeeper } from '../tasks/index.ts';
import { durationMs } from '../time/index.ts';
import { seeToWait, type WaitHandlers } from '../waits/index.ts';
import { runAsAttempt } from './attempt/current-attempt.ts';
import { agentTask, AttemptContext, type ContextParts } from './attempt/agent-context.ts';
import { gatherInput } from './attempt/attempt-input.ts';
import type { StopReason } from './attempt/running-attempt.ts';
import { classifyEnd, type ClassifyParts } from './classify-error.ts';
import type { Execution } from './execution.ts';

export interface RunAttemptParts extends ContextParts, ClassifyParts {
  ledger: Ledger;
  spending: SpendPorts;
  /** What is done when a run begins to wait. */
  waits: WaitHandlers;
  /** Runs the agent, in this process or on a daemon. */
  runAgent: (run: AgentRun, execution: Execution) => Promise<AgentResult>;
  /** How long an agent may take to end after an abort before its answer is no longer awaited, ms. */
  graceMs: number;
}

/**
 * Runs the agent of a claimed task until it answers, throws, or is stopped, and sends what is left of its output. Its model calls are
 * settled by then. Returns how the attempt has ended.
 */
export async function runAttempt(parts: RunAttemptParts, execution: Execution): Promise<AttemptEnd> {
  const diagnostics: Diagnostics = {};
  const end = await runUntilStopped(parts, execution, diagnostics).catch((error: unknown) =>
    classifyEnd(parts, execution, error, diagnostics),
  );
  const { output, journal, taskLog, models } = execution;
  await models.close();
  await journal.flushed();
  if (output.text !== '') await output.end();
  await taskLog.end();
  return journal.version === undefined ? end : { ...end, version: journal.version };
}

/** Agents whose runs are suspended by a checkpoint. */
const KEEPS_CHECKPOINT: ReadonlySet<string> = new Set(['command', 'http', 'daemon']);

/** How long a suspended run keeps its lane, unless its agent says. */
const HOLD_LANE_MS = 60_000;

/** Until when an attempt that begins may run: until its timeout, or until a deadline that aborts it and comes sooner. */
function boundOf({ attempt, body, state, isResumed }: Execution): { stop: StopReason; ms: number } {
  const untilDeadline = body.deadline !== null && body.execution.deadlineAborts ? attempt.msUntil(body.deadline) : Infinity;
  const { timeoutMs, ranMs = 0 } = state;
  // Of an attempt that another hub began, some of it has passed.
  const untilTimeout = Math.max(0, (isResumed ? attempt.msUntil((state.startedAt ?? 0) + timeoutMs) : timeoutMs) - ranMs);
  if (untilDeadline < untilTimeout) return { stop: { kind: 'deadline' }, ms: Math.max(0, untilDeadline) };
  return { stop: { kind: 'timeout' }, ms: untilTimeout };
}

/** Under the task's timeout and deadline. A stopped agent gets the grace to end; an answer in that time is an answer. */
async function runUntilStopped(parts: RunAttemptParts, execution: Execution, diagnostics: Diagnostics): Promise<Completion> {
  const { attempt } = execution;
  let timer: NodeJS.Timeout | undefined;
  attempt.onBegin(() => {
    const bound = boundOf(execution);
    timer = setTimeout(() => attempt.stop(bound.stop), bound.ms);
  });
  let grace: NodeJS.Timeout | undefined;
  const stopped = new Promise<never>((_, reject) => {
    attempt.onStop((stop) => {
      // Its promise never settles.
      if (stop.kind === 'suspended' || (stop.kind === 'drain' && stop.before !== undefined)) return reject(new Error(stop.kind));
      grace = setTimeout(() => reject(new Error(`The agent did not end after ${stop.kind}`)), parts.graceMs);
    });
  });
  const answered = runAsAttempt(attempt.member, () => startAgent(parts, execution, (found) => Object.assign(diagnostics, found)));
  try {
    return await Promise.race([answered, stopped]);
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
  }
}

async function startAgent(parts: RunAttemptParts, execution: Execution, diagnose: AgentRun['diagnose']): Promise<Completion> {
  const { ledger, catalog, spending } = parts;
  const { body, state, attempt } = execution;
  const entry =
    catalog.configured(body.agent) ?? (await retryWhileAway(() => catalog.find(body.tenant, body.agent), { signal: () => attempt.signal }));
  if (!entry) throw new TaskFailure('AGENT_NOT_FOUND', `There is no agent "${body.agent}" any more`);
  await Promise.all([assertNoRunaway(ledger, execution), execution.isResumed ? undefined : assertStarts(parts, execution)]);
  await execution.spend.open(spending, entry.definition);
  const hasCheckpoint = KEEPS_CHECKPOINT.has(entry.definition.kind);
  const until = answeredBy(execution);
  const { text, given } = await prepareRun(parts, execution, { definition: entry.definition, hasCheckpoint, hasTime: until !== null });
  attempt.throwIfStopped();
  const task = agentTask(body, state, text);
  const own = runOf(execution, until);
  const context = new AttemptContext(parts, execution, { task, given, callBatch: own.callBatch });
  const run: AgentRun = {
    ...own,
    task,
    definition: entry.definition,
    isOperators: entry.origin === 'config',
    context,
    diagnose,
    ...(hasCheckpoint && { checkpoint: execution.checkpoint }),
  };
  const result = await parts.runAgent(run, execution);
  if (hasCheckpoint) await execution.checkpoint.suspendIfAsked(execution);
  if (result.usage) execution.usage.endTotal([result.usage]);
  return completionOf(execution.output.text, result, ledger.settings.tasks.maxOutputBytes);
}

/** Reads what attempts before left, and what this one begins with: its prompt, and the messages that are part of it, by id. */
async function prepareRun(
  parts: RunAttemptParts,
  execution: Execution,
  { definition, hasCheckpoint, hasTime }: { definition: AgentDefinition; hasCheckpoint: boolean; hasTime: boolean },
): Promise<Pick<Awaited<ReturnType<typeof gatherInput>>, 'text' | 'given'>> {
  const { attempt, body, journal, checkpoint } = execution;
  if (keepsJournal(definition, body.request, hasTime)) await journal.open();
  if (hasCheckpoint) await checkpoint.open(async (at) => void (await seeToWait(parts, { ...attempt.ref, entry: at })));
  const { text, given, brought } = await gatherInput(parts.ledger, execution);
  const { holdLane = HOLD_LANE_MS, version } = definition;
  journal.begin(given, { holdLaneMs: durationMs(holdLane), version });
  if (hasCheckpoint) await checkpoint.resume(execution);
  await execution.files.prepare(brought);
  return { text, given };
}

/** What the runner of any agent gets of its attempt. `until`: see `waitsOf`. */
function runOf(
  execution: Execution,
  until: number | null,
): Omit<AgentRun, 'task' | 'definition' | 'isOperators' | 'context' | 'diagnose' | 'checkpoint'> {
  const { body, attempt, models, requests, account, usage, journal, files, sessions } = execution;
  return {
    token: attempt.ref.token,
    models,
    requests,
    account,
    reportTotal: (used) => usage.reportTotal([used]),
    request: body.request,
    ...waitsOf(execution, until),
    inputArrived: () => attempt.inputArrived,
    journal,
    files,
    sessions,
    untilStopped: (work) => attempt.untilStopped(work),
  };
}

/** What its runner may wait for without a slot. `until`: when it is to have its answer whose calls may go by batches. */
function waitsOf({ journal: { waits } }: Execution, until: number | null): Pick<AgentRun, 'callBatch' | 'callCaller'> {
  return {
    ...(until !== null && { callBatch: (call) => waits.callBatch({ ...call, until }) }),
    callCaller: (calls) => waits.callCaller(calls),
  };
}

/** When a task is to have its answer whose calls may go by batches, ms since the epoch; null for any other. */
function answeredBy({ body: { scheduledFor, deadline, execution }, state }: Execution): number | null {
  if (execution.withinMs === undefined) return null;
  return Math.min(Math.max(state.createdAt, scheduledFor ?? 0) + execution.withinMs, deadline ?? Infinity);
}

/** Whether what begins now may: an attempt that runs already goes on. */
async function assertStarts({ ledger }: RunAttemptParts, { body, attempt, tokens }: Execution): Promise<void> {
  const signal = (): AbortSignal => attempt.signal;
  await Promise.all([
    retryWhileAway(() => assertAgentStarts(ledger, body), { signal }),
    tokens.isCounted ? retryWhileAway(() => tokens.assertSome(), { signal }) : undefined,
  ]);
}

/** Errors: RUNAWAY for a task whose chain of delegations was cut. */
async function assertNoRunaway(ledger: Ledger, { body: { tenant, rootTaskId: root }, attempt }: Execution): Promise<void> {
  if (root === null) return;
  const reason = await retryWhileAway(() => readCut(ledger, { tenant, root }), { signal: () => attempt.signal });
  if (reason !== null) throw new TaskFailure('RUNAWAY', reason);
}

/** Far deeper than anybody nests on purpose, and far from what overflows the stack of readers and writers of JSON. */
const MAX_LEVELS = 500;

/**
 * Checks an agent's answer before any further step: every reader of the record gets all of it. `written`: its output, unless it answers with one.
 * A result that is a text is the output too where there is none, for those who read along.
 * Throws OUTPUT_TOO_LARGE when the output or the JSON of the result has more than `maxBytes`, AGENT_ERROR when the result is
 * nested too deeply or is no JSON.
 */
function completionOf(written: string, { output: text = written, result, finishReason }: AgentResult, maxBytes: number): Completion {
  const output = text || textIn(result);
  if (Buffer.byteLength(output) > maxBytes) throw tooLarge('output', maxBytes);
  if (isDeeper(result, MAX_LEVELS)) throw new TaskFailure('AGENT_ERROR', `The result is nested more than ${MAX_LEVELS} levels deep`);
  const json = result === undefined || result === null ? null : toJson(result);
  if (json !== null && Buffer.byteLength(json) > maxBytes) throw tooLarge('result', maxBytes);
  return { kind: 'completed', output, result: json, ...(finishReason && { finishReason }) };
}

function textIn(result: unknown): string {
  return typeof result === 'string' ? result : '';
}

function tooLarge(what: string, maxBytes: number): TaskFailure {
  return new TaskFailure('OUTPUT_TOO_LARGE', `The ${what} is larger than ${maxBytes} bytes`);
}

function toJson(result: unknown): string {
  try {
    return JSON.stringify(result) ?? '';
  } catch (cause) {
    throw new TaskFailure('AGENT_ERROR', 'The result is no JSON', { cause });
  }
}
