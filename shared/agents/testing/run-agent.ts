import type { InputOf, ResultOf } from '../../client/index.ts';
import type { AgentContext, AgentFunction, AgentResult, AgentTask, AgentTurn, AgentUsage, FinishReason, Tool } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { type AgentSchema, jsonValue, sentenceOf, textOf } from '../../text/index.ts';
import { untilAborted } from '../loop/until-aborted.ts';
import type { FakeModel } from './fake-model.ts';
import {
  type Artifact,
  type FakeDelegate,
  type LogEntry,
  type ProgressNote,
  type TestEvent,
  type TestFile,
  TestContext,
} from './test-context.ts';

/** An agent of `defineAgent`, a `function` agent of the configuration with its function in it, or the function itself. */
export type TestableAgent = AgentFunction | { readonly run: AgentFunction; readonly input?: AgentSchema | undefined };

/** What a test gives the agent; all but `input` may be left out. */
export interface RunAgentOptions<Input> {
  /** As in `POST /v1/tasks`, and checked as there. */
  input: Input;
  /** What `context.now()` says, and the times of the log. Defaults to the system's. */
  clock?: { now(): number };
  /** By the names that the agent asks `context.model` for; the one of a call without a name is `default`, or the only one. */
  models?: Readonly<Record<string, FakeModel>>;
  /** More of the task; `attempt` is 1 by default. */
  task?: Partial<Omit<AgentTask, 'input'>>;
  /** The session's earlier turns, oldest first. */
  history?: readonly Pick<AgentTurn, 'input' | 'output'>[];
  /** Messages that arrive for the run: each call of `context.input()` that finds some takes those of one list. */
  messages?: readonly (readonly string[])[];
  /** What people answer to its questions, in their order; to those without one nobody answers in time. */
  answers?: readonly unknown[];
  attachments?: readonly TestFile[];
  /** Events that `context.waitFor` gives, in this order, each once; when none fits, it gives null, as after its timeout. */
  events?: readonly TestEvent[];
  /** What sub-tasks give, by agent: a text is the output too; what one throws is its failure. */
  delegates?: Readonly<Record<string, FakeDelegate>>;
  /** `tools` of the configuration, for `context.agent`. */
  tools?: Readonly<Record<string, Tool>>;
  /** Stops the run, as a cancel or a timeout does. */
  signal?: AbortSignal;
}

/** What a run came to. */
export interface AgentRunResult<Result> {
  /** As the record of its task has it: JSON, or null for none. */
  result: Result;
  /** The final text: what the agent answered as output, or else all that it wrote. */
  output: string;
  /** What it wrote, piece by piece. */
  written: string[];
  progress: ProgressNote[];
  log: LogEntry[];
  /** The files that it attached; of one name the last. */
  artifacts: Artifact[];
  /** All that it used: its answer's usage, or else what its models used and what it reported. */
  usage: AgentUsage;
  finishReason: FinishReason | null;
}

/**
 * Runs one attempt of an agent. Rejects with what the agent throws: a `TaskFailure` for a failure that it names, which a worker counts by its code.
 * An input that its schema refuses is a `TaskFailure` of INVALID_INPUT, which the API would refuse with `request.invalid`.
 */
export async function runAgent<Agent extends TestableAgent>(
  agent: Agent,
  options: RunAgentOptions<InputOf<Agent>>,
): Promise<AgentRunResult<ResultOf<Agent>>> {
  const { run, input: schema } = typeof agent === 'function' ? { run: agent, input: undefined } : agent;
  const task = taskOf(readInput(schema, options.input), options);
  const context = new TestContext(task, options);
  context.signal.throwIfAborted();
  // A worker does not wait for an agent that ignores its signal.
  const answer = answerOf(await untilAborted(run(task, context as AgentContext), context.signal));
  const result = jsonValue(answer.result ?? null);
  const { output: text = context.written.join(''), finishReason = null } = answer;
  const { written, progressNotes: progress, entries: log, artifacts } = context;
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the agent's own type of what it returns
    result: result as ResultOf<Agent>,
    output: text === '' && typeof result === 'string' ? result : text,
    written,
    progress,
    log,
    artifacts: [...artifacts.values()],
    usage: answer.usage ?? context.used,
    finishReason,
  };
}

function readInput(schema: AgentSchema | undefined, input: unknown): string {
  if (schema === undefined) {
    if (typeof input === 'string') return input;
    throw new TaskFailure('INVALID_INPUT', `input: expected a text, because the agent has no schema for it; got ${typeof input}`);
  }
  const text = textOf(schema, input);
  if (text.problems === undefined) return text.value;
  throw new TaskFailure('INVALID_INPUT', sentenceOf('input', text.problems), { details: { problems: text.problems } });
}

function taskOf(input: string, { task = {} }: Pick<RunAgentOptions<unknown>, 'task'>): AgentTask {
  return {
    id: '01JTEST0000000000000000000',
    tenant: 'default',
    agent: 'tested',
    system: null,
    session: null,
    source: 'api',
    visitor: null,
    context: {},
    metadata: {},
    correlationId: null,
    attempt: 1,
    ...task,
    input,
  };
}

function answerOf(answer: AgentResult | string | undefined | void): AgentResult {
  return typeof answer === 'string' ? { output: answer } : (answer ?? {});
}
