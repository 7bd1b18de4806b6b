import type { HoldGate } from './gates.ts';
import { CodedError, type CodedErrorOptions } from './coded-error.ts';

/**
 * How an attempt can fail, and what follows from it.
 *
 * - `transient`: try again after the backoff
 * - `daemon`: try again, on another daemon
 * - `timeout`: try again, with a longer time allowed
 * - `permanent`: never try again
 * - `throttled`: the provider asked to come later; retried then, without counting an attempt
 */
export type FailureClass = 'transient' | 'daemon' | 'timeout' | 'permanent' | 'throttled';

/** What follows a failed attempt: another one after the backoff, none, or another one later that costs no attempt. */
export const FAILURE_ROUTES = ['retry', 'stop', 'wait'] as const;
export type FailureRoute = (typeof FAILURE_ROUTES)[number];

const ROUTE_BY_CLASS: Readonly<Record<FailureClass, FailureRoute>> = {
  transient: 'retry',
  daemon: 'retry',
  timeout: 'retry',
  permanent: 'stop',
  throttled: 'wait',
};

/**
 * The codes that Muster itself gives to failed attempts. Agents give others too, which are transient. A refusal is nobody's fault: it counts
 * neither against the agent nor against the schedule.
 */
export const FAILURE_CODES: Readonly<Record<string, { class: FailureClass; title: string; isRefusal?: true }>> = {
  AGENT_ERROR: { class: 'transient', title: 'The agent threw an error without a code' },
  PROVIDER_ERROR: { class: 'transient', title: 'The model or endpoint answered with an error' },
  COMMAND_FAILED: { class: 'transient', title: 'The program ended with an error' },
  COMMAND_SILENT: { class: 'transient', title: 'The program wrote nothing for too long' },
  COMMAND_UNSUPPORTED: { class: 'permanent', title: 'This version of the program cannot do what its agent needs' },
  NETWORK_ERROR: { class: 'transient', title: 'The connection failed' },
  CONNECTION_LOST: { class: 'transient', title: 'The connection was cut' },
  WORKER_LOST: { class: 'transient', title: 'The worker ended during the attempt' },
  DAEMON_CRASHED: { class: 'daemon', title: 'The daemon ended during the attempt' },
  DAEMON_UNRESPONSIVE: { class: 'daemon', title: 'The daemon does not answer' },
  DAEMON_DISCONNECTED: { class: 'daemon', title: 'The daemon was disconnected' },
  EXECUTION_TIMEOUT: { class: 'timeout', title: 'The attempt took too long' },
  DEADLINE_PASSED: { class: 'permanent', title: 'The task ran at its deadline, and was aborted' },
  FILES_UNAVAILABLE: { class: 'transient', title: 'Files could not be fetched or stored' },
  INVALID_INPUT: { class: 'permanent', title: 'The input cannot be processed' },
  INVALID_OUTPUT: { class: 'transient', title: 'What the agent returned does not fit its schema' },
  PERMISSION_DENIED: { class: 'permanent', title: 'A permission is missing' },
  RESOURCE_NOT_FOUND: { class: 'permanent', title: 'Something that is needed does not exist' },
  AGENT_PAUSED: { class: 'throttled', title: 'A person paused the agent', isRefusal: true },
  AGENT_NOT_FOUND: { class: 'permanent', title: 'The agent was removed' },
  DAEMON_NOT_FOUND: { class: 'permanent', title: 'The named daemon does not exist' },
  BUDGET_EXCEEDED: { class: 'permanent', title: 'A budget is used up', isRefusal: true },
  NO_ANSWER: { class: 'permanent', title: 'The model was cut before it answered' },
  OUTPUT_TOO_LARGE: { class: 'permanent', title: 'The output or result is too large' },
  PROVIDER_QUOTA: { class: 'throttled', title: 'The account or model has no calls left at its provider', isRefusal: true },
  TOO_MANY_SUSPENDED: { class: 'transient', title: 'Too many runs of the tenant wait' },
  JOURNAL_FULL: { class: 'permanent', title: 'The run has too many steps' },
  JOURNAL_MISMATCH: { class: 'permanent', title: 'The run took another step than before' },
  MCP_ERROR: { class: 'transient', title: 'An MCP server failed, or answered what it should not' },
  TOOL_FAILED: { class: 'permanent', title: 'A tool failed, which its model is given' },
  STEP_TIMEOUT: { class: 'transient', title: 'A step took too long' },
  SEAL_KEY_LOST: { class: 'permanent', title: 'It is sealed with a key that is not here' },
  STEP_TOO_LARGE: { class: 'permanent', title: 'A step gave more than the journal takes' },
  RUNAWAY: { class: 'permanent', title: 'The task belongs to a runaway that was cut' },
  THROTTLED: { class: 'throttled', title: 'The provider takes no requests now', isRefusal: true },
};

/** Whether a task that failed with this was refused by a limit: money, a provider's quota, a paused agent. */
export function isRefusal(code: string): boolean {
  return Object.hasOwn(FAILURE_CODES, code) && FAILURE_CODES[code]?.isRefusal === true;
}

/** The class of a failure code; unknown codes, `NETWORK_*` among them, are transient, which is the safer guess. */
export function classifyFailure(code: string): FailureClass {
  return Object.hasOwn(FAILURE_CODES, code) ? (FAILURE_CODES[code]?.class ?? 'transient') : 'transient';
}

/** What follows these cannot be changed: the deadline is over, or there is no agent whose routes could say it. */
export const FIXED_FAILURES: readonly string[] = ['DEADLINE_PASSED', 'AGENT_NOT_FOUND'];

/** What follows a failure with this code. An agent's own routes win: of the code itself, or else of its beginning, as `NETWORK_*`. */
export function routeOfFailure(code: string, own: Readonly<Record<string, FailureRoute>> = {}): FailureRoute {
  if (FIXED_FAILURES.includes(code)) return ROUTE_BY_CLASS[classifyFailure(code)];
  if (Object.hasOwn(own, code)) return own[code] ?? 'retry';
  const beginnings = Object.keys(own).filter((name) => name.endsWith('*') && code.startsWith(name.slice(0, -1)));
  const [longest] = beginnings.toSorted((a, b) => b.length - a.length);
  return (longest === undefined ? undefined : own[longest]) ?? ROUTE_BY_CLASS[classifyFailure(code)];
}

/** Whether Muster itself gives this code, so that there are few of them. */
export function isKnownFailure(code: string): boolean {
  return Object.hasOwn(FAILURE_CODES, code);
}

/**
 * Thrown by an agent to fail its attempt with a code of its choice. With `retryAfterMs` a `THROTTLED` task is put back until then, and the
 * retry of any other comes no sooner.
 */
export class TaskFailure extends CodedError<string> {
  override readonly name = 'TaskFailure';
  /** Whether no other attempt is of use, whatever follows the code. */
  readonly isFinal: boolean;

  constructor(code: string, message: string, { isFinal = false, ...options }: CodedErrorOptions & { isFinal?: boolean } = {}) {
    super(code, message, options);
    this.isFinal = isFinal;
  }
}

/** What holds a task: it waits until all that this holds are released, or for its time. */
export interface TaskHold {
  gate: HoldGate;
  /** Which of the gate's kind: the id of a budget, an account and model, an endpoint, an agent, an input, the needs of a task, a queue. */
  what: string;
  /** What of its rule holds the task: of a budget `calls` under way, else what follows at its line. Absent where there is one only. */
  rule?: string;
}

/**
 * Ends an attempt that cannot go on now and costs nothing: its task gives its slot back and is held until a release, or for `retryAfterMs`
 * when that is given.
 */
export class HeldFailure extends TaskFailure {
  readonly hold: TaskHold;
  /** Whether the other side refused what was sent. Defaults to false: nothing was sent. */
  readonly wasSent: boolean;

  constructor(
    code: string,
    message: string,
    { hold, wasSent = false, ...options }: CodedErrorOptions & { hold: TaskHold; wasSent?: boolean },
  ) {
    super(code, message, options);
    this.hold = hold;
    this.wasSent = wasSent;
  }
}
