import type { AgentLoopOptions, AgentResult, Settings } from '../../config/index.ts';
import type { AgentRun, AgentRunnersOptions } from '../agent-kind.ts';
import type { FleetModels } from '../model-source.ts';
import { batchLoop } from '../batches/batched-model.ts';
import { mcpOpener } from '../mcp/open-mcp.ts';
import { failureOfCall, isByName, type LoopRun, runLoopIn } from './loop-in-function.ts';
import { configuredTools, ToolBox } from './tool-box.ts';
import { untilAborted } from './until-aborted.ts';

/** Runs a model with tools within a function, see `AgentContext.agent`. */
export type FunctionLoop = (
  run: LoopRun & Pick<AgentRun, 'models' | 'inputArrived' | 'diagnose' | 'callBatch'>,
  options: AgentLoopOptions,
) => Promise<AgentResult>;

/** The loops of one process. */
export function createFunctionLoop(options: AgentRunnersOptions & { defaultModel: string; fleetModels: FleetModels }): FunctionLoop {
  const openMcp = mcpOpener(options);
  return async (run, given) => {
    const request = new AbortController();
    const signal = AbortSignal.any([run.context.signal, request.signal]);
    const mcp = openMcp({ ...run, task: run.context.task }, signal);
    const { model: name = options.defaultModel } = given;
    const { model, ...batched } = options.fleetModels(run.models, { name, traceparent: run.context.trace.traceparent });
    try {
      const box = new ToolBox({ ...toolsOf(given, options), mcp, agents: options.operatorAgents ?? {} });
      const called = { model, signal, failureOf: failureOfCall(run.models) };
      const callBatch = batchLoop(run, { ...batched, called, mayMeet: true });
      return await untilAborted(runLoopIn(run, given, { box, name, called, callBatch }), run.context.signal);
    } finally {
      request.abort();
      await mcp.close();
    }
  };
}

/** Tools given with their work stand for those of the configuration. */
function toolsOf(
  { tools }: Pick<AgentLoopOptions, 'tools'>,
  configured: { tools?: Settings['tools'] | undefined },
): ReturnType<typeof configuredTools> {
  const all = configuredTools(configured);
  return isByName(tools) ? { ...all, tools } : all;
}
