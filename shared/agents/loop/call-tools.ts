import { createHash } from 'node:crypto';
import type { ModelMessage } from 'ai';
import type { AgentContext, Delegated } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { CallerCall } from '../../tasks/index.ts';
import { ellipsize, truncateBytes, withoutDirections } from '../../text/index.ts';
import type { ModelCall } from './model-step.ts';
import type { RunJournal } from './run-journal.ts';
import type { ToolBox } from './tool-box.ts';
import type { ToolSpec } from './tool-spec.ts';

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;

export interface CallToolsParts {
  readonly box: ToolBox;
  readonly specs: readonly ToolSpec[];
  readonly journal: RunJournal;
  readonly context: AgentContext;
  /** Has the caller of the request do calls of its functions; null where it did not come back. Absent where there is none. */
  readonly callCaller?: ((calls: readonly CallerCall[]) => Promise<readonly string[] | null>) | undefined;
}

/** A call whose tool there is. */
interface Ready {
  readonly call: ModelCall;
  readonly spec: ToolSpec;
}

interface Result {
  readonly text: string;
  readonly isError?: boolean;
}

/**
 * Does what a model called, and returns what it is told of it. Tools that need nobody run at once; then people are asked for the others, one question
 * at a time, because a run waits for one thing at a time; agents are given their sub-tasks then, all at once, and the caller its calls last. The order in
 * which things begin is always the same, as the journal needs it. An error of a tool is told to the model; a `TaskFailure` of it is rejected with, once all
 * that run have ended. Null where the caller did not come back.
 */
export async function callTools(calls: readonly ModelCall[], parts: CallToolsParts): Promise<ToolMessage[] | null> {
  const results = new Map<string, Result>();
  const ready = calls.flatMap((call) => {
    const spec = parts.specs.find(({ name }) => name === call.name);
    const problem = call.problem ?? (spec ? parts.box.problemOf(spec, call.input) : `There is no tool "${call.name}"`);
    if (spec && problem === null) return [{ call, spec }];
    results.set(call.id, { text: problem ?? '', isError: true });
    return [];
  });
  const tools = ready.filter(({ spec }) => spec.of === 'tools' || spec.of === 'mcp');
  const asked = tools.filter(({ spec, call }) => parts.box.needsApproval(spec, call.input));
  await runAll(
    tools.filter((each) => !asked.includes(each)),
    parts,
    results,
  );
  const approved: Ready[] = [];
  for (const each of asked) {
    const refusal = await askFor(each, parts.context);
    if (refusal === null) approved.push(each);
    else results.set(each.call.id, { text: refusal, isError: true });
  }
  await runAll(approved, parts, results);
  await delegateAll(
    ready.filter(({ spec }) => spec.of === 'delegates'),
    parts,
    results,
  );
  const forCaller = ready.filter(({ spec }) => spec.of === 'caller');
  return (await askCaller(forCaller, parts, results)) ? [messageOf(calls, results)] : null;
}

function messageOf(calls: readonly ModelCall[], results: ReadonlyMap<string, Result>): ToolMessage {
  const content = calls.map(({ id, name }) => {
    const { text = '', isError = false } = results.get(id) ?? {};
    return {
      type: 'tool-result' as const,
      toolCallId: id,
      toolName: name,
      output: { type: isError ? 'error-text' : 'text', value: text } as const,
    };
  });
  return { role: 'tool', content };
}

async function runAll(ready: readonly Ready[], parts: CallToolsParts, results: Map<string, Result>): Promise<void> {
  const ended = await Promise.allSettled(ready.map(async (each) => results.set(each.call.id, await runTool(each, parts))));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}

/** What a tool failed with, where that is told to the model. */
const FAILED = 'TOOL_FAILED';

async function runTool({ call: { id, name, input }, spec }: Ready, { box, journal, context }: CallToolsParts): Promise<Result> {
  const given = JSON.stringify({ id, input });
  try {
    const text = await journal.keep({ kind: 'tool', name, given }, async ({ signal }) => {
      try {
        return cut(textOf(await box.call(spec, input, { ...toolContext(context), signal })), box.maxResultBytes);
      } catch (error) {
        if (error instanceof TaskFailure || signal.aborted) throw error;
        throw new TaskFailure(FAILED, cut(messageOfError(error), MAX_ERROR_BYTES), { cause: error });
      }
    });
    return { text };
  } catch (error) {
    if (!(error instanceof TaskFailure) || error.code !== FAILED) throw error;
    return { text: error.message, isError: true };
  }
}

const MAX_ERROR_BYTES = 4096;

/** Its getters belong to its class, and a tool may take its context apart. */
function toolContext(context: AgentContext): AgentContext {
  const { task, log, trace, signal, attachments } = context;
  return { ...context, task, log, trace, signal, attachments };
}

function messageOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const json: string | undefined = JSON.stringify(value);
  return json ?? 'null';
}

function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return text;
  return `${truncateBytes(text, maxBytes)}\n[cut here: ${bytes - maxBytes} of ${bytes} bytes are left out]`;
}

const APPROVE = 'approve';
const REFUSE = 'refuse';
const MAX_SHOWN = 3000;

/** Asks whether a call may be done. Returns null for yes, else what the model is told. */
async function askFor({ call: { name, input } }: Ready, context: AgentContext): Promise<string | null> {
  const text = withoutDirections(JSON.stringify(input, null, 2));
  const digest = createHash('sha256')
    .update(JSON.stringify([name, input]))
    .digest('hex');
  const shown = text.length > MAX_SHOWN ? `${ellipsize(text, MAX_SHOWN)}\n(${text.length} characters in all)` : text;
  const question = `May the agent "${context.task.agent}" call its tool "${name}" with this?\n${shown}\nsha256 ${digest}`;
  const answer = await context.ask({ question, choices: [APPROVE, REFUSE] });
  if (answer === APPROVE) return null;
  return answer === REFUSE ? 'A person refused this call, and it was not done.' : 'Nobody approved this call in time, and it was not done.';
}

async function delegateAll(ready: readonly Ready[], { context, box }: CallToolsParts, results: Map<string, Result>): Promise<void> {
  if (ready.length === 0) return;
  const answers = await context.delegateAll(ready.map(({ call, spec }) => [spec.name, inputOf(call, spec)]));
  for (const [at, { call }] of ready.entries()) results.set(call.id, resultOf(answers[at], box.maxResultBytes));
}

/** Returns whether the caller came back. */
async function askCaller(ready: readonly Ready[], { callCaller }: CallToolsParts, results: Map<string, Result>): Promise<boolean> {
  if (ready.length === 0) return true;
  const asked = ready.map(({ call: { id, name, input } }) => ({ id, name, arguments: JSON.stringify(input ?? {}) }));
  const outputs = (await callCaller?.(asked)) ?? null;
  for (const [at, { call }] of ready.entries()) results.set(call.id, { text: outputs?.[at] ?? '' });
  return outputs !== null;
}

function inputOf({ input }: ModelCall, { field }: ToolSpec): unknown {
  if (field === undefined || typeof input !== 'object' || input === null) return input;
  return field in input ? input[field] : input;
}

function resultOf(answer: Delegated | undefined, maxBytes: number): Result {
  if (answer === undefined) return { text: 'It gave no answer', isError: true };
  const { status, output, result, error } = answer;
  if (status !== 'completed')
    return { text: `The sub-task ended as ${status}: ${error?.code ?? ''} ${error?.message ?? ''}`.trim(), isError: true };
  return { text: cut(result === null ? (output ?? '') : textOf(result), maxBytes) };
}
