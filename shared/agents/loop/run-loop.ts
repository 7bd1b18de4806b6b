import type { ModelMessage } from 'ai';
import { type AgentContext, type AgentInput, type FinishReason, isTruncated } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { contentOf } from '../kinds/attachment-parts.ts';
import { callTools, type CallToolsParts } from './call-tools.ts';
import {
  assertAnswered,
  CALLS_TO_THE_END,
  type CalledModel,
  callModel,
  type ModelCall,
  type ModelPrompt,
  type ModelStep,
} from './model-step.ts';
import type { RunJournal } from './run-journal.ts';
import type { ToolBox } from './tool-box.ts';
import type { LoopDefinition } from './tool-spec.ts';

/**
 * Has a call go by a provider's batch. Gives a model that answers as that did, or is called directly after it, and the number of the entry that keeps what it
 * answers; null for a call that never went so.
 */
export type LoopBatches = (prompt: ModelPrompt) => Promise<{ called: CalledModel; at: number } | null>;

export interface LoopOptions extends Pick<ModelPrompt, 'temperature' | 'maxOutputTokens' | 'mustCall'>, Pick<CallToolsParts, 'callCaller'> {
  readonly called: CalledModel;
  readonly definition: LoopDefinition;
  readonly box: ToolBox;
  readonly journal: RunJournal;
  readonly context: AgentContext;
  /** What it begins with: turns before, and the prompt. */
  readonly messages: readonly ModelMessage[];
  /** Model calls at most. */
  readonly maxSteps: number;
  readonly callBatch?: LoopBatches | undefined;
  /** Gets the text of the answers as it comes. */
  readonly write: (text: string) => void;
  /** Takes the messages that arrived meanwhile. */
  readonly takeInput: () => Promise<readonly AgentInput[]>;
  /** Bytes of the attachments of one message. */
  readonly maxModelBytes: number;
}

/** Between the answers of two steps. */
const STEP_BREAK = '\n\n';

/**
 * Calls a model until it has answered: again after it called tools, with what these gave, and when messages arrived meanwhile, with its answer and
 * them. Each call of the model and of a tool is kept in the journal: a later attempt goes on behind the last. Returns how the answers ended, the
 * first that was cut, else the last, and what the last one said. It ends by `tool_calls` where its caller did not come back. Fails as `callModel` and `callTools` do, and with NO_ANSWER where the model still
 * calls tools in its last step.
 */
export async function runLoop(options: LoopOptions): Promise<{ finishReason: FinishReason; text: string }> {
  const { definition, maxSteps, context } = options;
  const messages = [...options.messages];
  const endings: FinishReason[] = [];
  const write = withBreaks(options.write);
  for (let step = 1; ; step += 1) {
    const isLast = step === maxSteps;
    const answer = await makeStep({ ...options, messages, mayCall: !isLast, ...(step > 1 && { mustCall: undefined }) }, write);
    endings.push(answer.finishReason);
    const calls = callsOf(answer, options, step);
    if (hasContent(answer)) messages.push(answer.message);
    const results = calls.length > 0 ? await callTools(calls, { ...options, specs: definition.tools }) : [];
    if (results === null) return { finishReason: 'tool_calls', text: answer.text };
    messages.push(...results);
    // The last step takes no messages, because none would be answered.
    const said = isLast ? [] : await takeMessages(options);
    if (calls.length === 0 && said.length === 0)
      return { finishReason: endings.find(isTruncated) ?? answer.finishReason, text: answer.text };
    messages.push(...said);
    context.signal.throwIfAborted();
  }
}

/** What a step calls, none where it has answered. Errors: those of `assertAnswered` for the first step; NO_ANSWER for calls in the last. */
function callsOf(answer: ModelStep, { definition, maxSteps }: LoopOptions, step: number): readonly ModelCall[] {
  const calls = definition.tools.length > 0 ? answer.calls : [];
  if (calls.length === 0 && step === 1) assertAnswered(answer);
  if (calls.length === 0 || step < maxSteps) return calls;
  throw new TaskFailure('NO_ANSWER', CALLS_TO_THE_END);
}

async function takeMessages({ takeInput, maxModelBytes }: LoopOptions): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = [];
  for (const { text, attachments } of await takeInput())
    messages.push({ role: 'user', content: await contentOf(text, attachments, maxModelBytes) });
  return messages;
}

async function makeStep(
  {
    called,
    callBatch,
    definition,
    journal,
    context,
    messages,
    mayCall,
    mustCall,
    temperature,
    maxOutputTokens,
  }: LoopOptions & { mayCall: boolean },
  write: StepWriter,
): Promise<ModelStep> {
  const { model: name, instructions, tools } = definition;
  const prompt = { instructions, messages, tools, mayCall, mustCall, temperature, maxOutputTokens };
  const batched = await callBatch?.(prompt);
  const answer = await journal.keep(
    { kind: 'model', name, ...(batched && { at: batched.at }) },
    async () => await callModel(batched?.called ?? called, prompt, context, write.begin()),
  );
  write.ended(answer.text);
  return answer;
}

interface StepWriter {
  /** Begins the text of a step. */
  begin(): (text: string) => void;
  /** A step has ended with this text, which an earlier attempt may have written. */
  ended(text: string): void;
}

/** Parts the texts of steps by a blank line. */
function withBreaks(write: (text: string) => void): StepWriter {
  let hasText = false;
  return {
    begin: () => {
      let isBegun = false;
      return (text) => {
        if (!isBegun && hasText) write(STEP_BREAK);
        isBegun = true;
        write(text);
      };
    },
    ended: (text) => (hasText ||= text !== ''),
  };
}

/** An empty answer is left out: some endpoints refuse it. */
function hasContent({ message: { content } }: ModelStep): boolean {
  return typeof content === 'string' ? content !== '' : content.some((part) => part.type !== 'text' || part.text !== '');
}
