import type { AgentCatalog, Diagnostics } from '../agents/index.ts';
import { classifyFailure, type FailureRoute, hasCode, HeldFailure, routeOfFailure, TaskFailure } from '../errors/index.ts';
import { type AttemptEnd, type Ledger, readJournalProgress } from '../ledger/index.ts';
import type { TaskBody } from '../tasks/index.ts';
import type { Clock } from '../time/index.ts';
import { decideInterruption, type LeftBehind } from './decide-interruption.ts';
import { AT_ONCE, daemonLoss, decideRetry, growTimeout, NO_RETRY, throttleDelay } from './decide-retry.ts';
import type { Execution } from './execution.ts';
import type { StopReason } from './attempt/running-attempt.ts';
import { codeOf, messageOf, storedError, type FailureContext } from './stored-error.ts';

export interface ClassifyContext extends FailureContext {
  /** What the attempt has left, where its worker ends. */
  left?: LeftBehind;
  /** What follows a failure by its code, as the agent's definition says; other codes follow their class. */
  routes?: Readonly<Record<string, FailureRoute>> | undefined;
}

export interface ClassifyParts {
  ledger: Ledger;
  catalog: AgentCatalog;
  clock: Clock;
  /** Takes secrets out of what is recorded of a task. */
  redact: (text: string) => string;
}

/**
 * Decides how an attempt has ended whose agent threw this, as the ledger settles it. An error after a stop is the stop's doing.
 * `diagnostics`: what its runner found out about the failure.
 */
export async function classifyEnd(
  parts: ClassifyParts,
  execution: Pick<Execution, 'body' | 'state' | 'attempt' | 'sessions'>,
  thrown: unknown,
  diagnostics: Diagnostics = {},
): Promise<AttemptEnd> {
  const { body, state, attempt } = execution;
  const { stopped } = attempt;
  const { ledger, clock, redact } = parts;
  const routes = await findRoutes(parts, body);
  const now = attempt.redisNow(clock.monotonic());
  const context = { body, state, settings: ledger.settings, now, redact, routes, diagnostics };
  if (stopped?.kind === 'suspended') return stopped;
  if (stopped?.kind === 'drain') return classifyStop(stopped, { ...context, left: await findLeft(ledger, execution, stopped.before) });
  return stopped ? classifyStop(stopped, context) : classifyError(thrown, context);
}

/** What the attempt leaves for the next one. Without its journal, while Redis is away, it counts as one that leaves nothing. */
async function findLeft(
  ledger: Ledger,
  { attempt, sessions }: Pick<Execution, 'attempt' | 'sessions'>,
  before: string | undefined,
): Promise<LeftBehind> {
  const journal = await readJournalProgress(ledger, attempt.ref).catch(() => null);
  return { journal, hasKeptSession: sessions.hasKept, before };
}

/** What follows failures of the task's agent, by code; the defaults while an agent made by API cannot be read. */
async function findRoutes({ catalog }: ClassifyParts, { tenant, agent }: TaskBody): Promise<ClassifyContext['routes']> {
  const entry = catalog.configured(agent) ?? (await catalog.find(tenant, agent).catch(() => null));
  return entry?.definition.retries;
}

/**
 * Decides how a stopped attempt ends. Pure. `interrupted` means everywhere: it ends through no fault of its own, costs no attempt, and starts
 * again.
 */
export function classifyStop(stop: Exclude<StopReason, { kind: 'suspended' }>, context: ClassifyContext): AttemptEnd {
  switch (stop.kind) {
    case 'cancel':
      return { kind: 'cancelled', reason: stop.reason };
    case 'preempt':
      return { kind: 'interrupted', reason: `preempted by task ${stop.by}`, delayMs: 0 };
    case 'failed':
      return classifyError(stop.failure, context);
    case 'drain':
      return decideInterruption(context.state, context.settings, context.left);
    case 'detached':
    case 'lease-lost':
      // The ledger refuses it: another attempt has the task, or may have it.
      return { kind: 'interrupted', reason: 'the lease was lost', delayMs: 0 };
    case 'deadline': {
      const failure = new TaskFailure('DEADLINE_PASSED', 'The task was aborted at its deadline');
      return { kind: 'failed', error: storedError(failure, false, context), ...NO_RETRY, isExpired: true };
    }
    case 'timeout': {
      const { timeoutMs } = context.state;
      const failure = new TaskFailure('EXECUTION_TIMEOUT', `The attempt took longer than ${timeoutMs} ms`);
      const end = classifyFailed(failure, context);
      return end.kind === 'timeout' ? { ...end, nextTimeoutMs: growTimeout(timeoutMs, context.settings) } : end;
    }
  }
}

/** The same of an attempt whose agent threw. Pure. */
export function classifyError(thrown: unknown, context: ClassifyContext): AttemptEnd {
  if (thrown instanceof HeldFailure) return classifyHeld(thrown, context);
  return classifyFailed(failureOf(thrown), context);
}

function failureOf(thrown: unknown): TaskFailure {
  if (thrown instanceof TaskFailure) return thrown;
  const code = hasCode(thrown, 'seal.key-lost') ? 'SEAL_KEY_LOST' : 'AGENT_ERROR';
  return new TaskFailure(code, messageOf(thrown), { cause: thrown });
}

/** A failure that waits too often for its provider is retried like any other. */
function classifyFailed(failure: TaskFailure, context: ClassifyContext): AttemptEnd {
  const code = codeOf(failure);
  const route = failure.isFinal ? 'stop' : routeOfFailure(code, context.routes);
  const delayMs = route === 'wait' ? throttleDelay(failure, context) : null;
  if (delayMs !== null)
    return { kind: 'interrupted', reason: failure.message, delayMs, error: storedError(failure, true, context), turnedBack: 'refused' };
  const isRetryable = route !== 'stop';
  const error = storedError(failure, isRetryable, context);
  const loss = route === 'retry' ? daemonLoss(code, context) : null;
  const retry = loss?.isFree ? AT_ONCE : isRetryable ? decideRetry(context, failure.retryAfterMs) : NO_RETRY;
  return { kind: classifyFailure(code) === 'timeout' ? 'timeout' : 'failed', error, ...retry, ...(loss && { loss }) };
}

/**
 * The bound holds also where only a release would end the wait: what would have released it may be gone. What an agent's own routes say of
 * a provider's refusal goes before the hold.
 */
function classifyHeld(failure: HeldFailure, context: ClassifyContext): AttemptEnd {
  const refusal = refusalOf(failure);
  const isRouted = refusal !== null && routeOfFailure(refusal.code, context.routes) !== routeOfFailure(refusal.code);
  if (isRouted) return classifyFailed(refusal, context);
  const delayMs = Math.min(failure.retryAfterMs ?? Infinity, context.settings.retries.maxHoldMs);
  const { hold, wasSent } = failure;
  const turnedBack = wasSent ? 'refused' : 'unsent';
  return { kind: 'interrupted', reason: failure.message, delayMs, hold, error: storedError(failure, true, context), turnedBack };
}

/** What a provider refused: the task's own call, or all calls behind its wall. A wait for the rate is none. */
function refusalOf(failure: HeldFailure): TaskFailure | null {
  if (failure.cause instanceof TaskFailure) return failure.cause;
  return failure.hold.gate === 'provider' && failure.code === 'PROVIDER_QUOTA' ? failure : null;
}
