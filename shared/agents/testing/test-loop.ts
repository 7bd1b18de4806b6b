import type { AgentContext, AgentLoopOptions, AgentResult, Tool } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { failureOfCall, isByName, runLoopIn } from '../loop/loop-in-function.ts';
import { noJournal } from '../loop/run-journal.ts';
import { type ServedTools, ToolBox } from '../loop/tool-box.ts';

/** Tools of the configuration, as a test gives them. */
type TestTools = Readonly<Record<string, Tool>>;

/** Has a model of the test work with the tools of the test, and with those that the agent gives itself. */
export async function runTestLoop(context: AgentContext, options: AgentLoopOptions, configured: TestTools = {}): Promise<AgentResult> {
  const signal = (): AbortSignal => context.signal;
  const tools = isByName(options.tools) ? options.tools : configured;
  const box = new ToolBox({ tools, maxResultBytes: Infinity, mcp: NO_SERVERS, agents: {} });
  const called = { model: context.model(options.model), signal: signal(), failureOf: failureOfCall({ failure: undefined }) };
  return await runLoopIn({ context, journal: noJournal(signal) }, options, { box, name: options.model ?? 'default', called });
}

const NO_SERVERS: ServedTools = { list: noServer, call: noServer };

function noServer(server: string): Promise<never> {
  throw new TaskFailure('RESOURCE_NOT_FOUND', `The agent uses the MCP server "${server}": a test gives it tools instead`);
}
