import type { AgentContext, AgentLoopOptions, AgentResult, Tool } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { AttemptModels } from '../../models/index.ts';
import { listCauses } from '../network-failures.ts';
import type { CalledModel } from './model-step.ts';
import type { RunJournal } from './run-journal.ts';
import { type LoopBatches, runLoop } from './run-loop.ts';
import type { ToolBox } from './tool-box.ts';
import { loopDefinitionSchema } from './tool-spec.ts';

/** What a loop within a function has of its run. */
export interface LoopRun {
  readonly context: AgentContext;
  readonly journal: RunJournal;
}

/** Model calls at most, by default. */
const MAX_STEPS = 25;

/** Whether tools are given with their work. */
export function isByName(tools: AgentLoopOptions['tools']): tools is Readonly<Record<string, Tool>> {
  return tools !== undefined && !Array.isArray(tools);
}

/** Runs it with what a worker, or a test, has for it. */
export async function runLoopIn(
  { context, journal }: LoopRun,
  {
    instructions = '',
    input = context.task.input,
    tools = [],
    mcp,
    delegates,
    maxSteps = MAX_STEPS,
    stream = false,
    ...bounds
  }: AgentLoopOptions,
  { box, name, called, callBatch }: { box: ToolBox; name: string; called: CalledModel; callBatch?: LoopBatches | undefined },
): Promise<AgentResult> {
  const named = { tools: isByName(tools) ? Object.keys(tools) : tools, mcp, delegates };
  // What a server has may change; the tools of the code may not, or its run is another one.
  const list = async (): Promise<unknown> => await box.list(named);
  const listed = mcp === undefined ? await list() : await journal.keep({ kind: 'step', name: 'tools' }, list);
  const { finishReason, text } = await runLoop({
    called,
    callBatch,
    definition: loopDefinitionSchema.parse({ model: name, instructions, tools: listed }),
    box,
    journal,
    context,
    messages: [{ role: 'user', content: input }],
    maxSteps,
    temperature: bounds.temperature,
    maxOutputTokens: bounds.maxOutputTokens,
    write: stream ? context.write : () => undefined,
    takeInput: () => Promise.resolve([]),
    maxModelBytes: 0,
  });
  return { output: text, finishReason };
}

/** The SDK hides why a model failed behind errors of its own. */
export function failureOfCall(models: Pick<AttemptModels, 'failure'>): CalledModel['failureOf'] {
  return (error) => {
    const known = listCauses(error).find((cause) => cause instanceof TaskFailure);
    if (known instanceof TaskFailure) return known;
    return models.failure ?? new TaskFailure('PROVIDER_ERROR', error instanceof Error ? error.message : String(error));
  };
}
