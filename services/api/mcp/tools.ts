import { type ListToolsResult, ProtocolError, ProtocolErrorCode, type ServerContext, type Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { hasScope } from '#shared/tenants/index.ts';
import { type AgentTool, agentTools } from './agent-tools.ts';
import { progressOf } from './call-progress.ts';
import { abilitiesOf } from './client-abilities.ts';
import type { FleetTool } from './fleet-tools.ts';
import type { McpRequest } from './mcp-request.ts';
import { runTask, type TaskCall } from './run-task.ts';
import { resultOfAnswer, resultOfError, type ToolAnswer } from './tool-result.ts';

/** Tools of one page of a list. */
const PAGE = 200;

type FleetTools = ReadonlyMap<string, FleetTool>;

/** `tools/list`: those that the caller's scopes allow, then the agents. */
export async function listTools(request: McpRequest, fleet: FleetTools, cursor: string | undefined): Promise<ListToolsResult> {
  const own = [...fleet.values()].filter((tool) => isAllowed(request, tool));
  const all = [...own, ...(await allowedAgents(request, fleet)).values()];
  const from = cursor === undefined ? 0 : all.findIndex(({ name }) => name === cursor) + 1;
  const tools = all.slice(from, from + PAGE).map(describeTool);
  const last = tools.at(-1);
  return { tools, ...(last !== undefined && from + PAGE < all.length ? { nextCursor: last.name } : {}) };
}

function describeTool(tool: FleetTool | AgentTool): Tool {
  const { name, description } = tool;
  const more = 'operation' in tool ? { title: tool.title, annotations: tool.annotations } : { annotations: { openWorldHint: true } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON, of an object
  return { name, description, inputSchema: { ...tool.inputSchema, type: 'object' } as Tool['inputSchema'], ...more };
}

/** A tool that is not listed cannot be called either: its route checks the same. */
function isAllowed({ call, routes }: McpRequest, { operation }: Pick<FleetTool, 'operation'>): boolean {
  const { scope } = routes[operation];
  return call.key !== null && scope !== 'none' && hasScope(call.key.scopes, scope);
}

async function allowedAgents(request: McpRequest, fleet: FleetTools): Promise<ReadonlyMap<string, AgentTool>> {
  return isAllowed(request, { operation: 'submitTask' }) ? await agentTools(request, fleet) : new Map();
}

interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly context: ServerContext;
}

/** `tools/call`. Refusals and failures are results too, so that the model learns of them. */
export async function callTool(request: McpRequest, fleet: FleetTools, call: ToolCall): Promise<ToolAnswer> {
  try {
    return await answerCall(request, fleet, call);
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    return resultOfError(request.explain(error));
  }
}

async function answerCall(request: McpRequest, fleet: FleetTools, call: ToolCall): Promise<ToolAnswer> {
  const { name, arguments: given = {} } = call;
  const tool = fleet.get(name);
  if (tool !== undefined && isAllowed(request, tool)) {
    if (tool.waits) return await askSession(request, tool, call);
    return resultOfAnswer((await request.forward(tool.operation, tool.read(given))).body);
  }
  const agent = (await allowedAgents(request, fleet)).get(name);
  if (agent === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${JSON.stringify(name.slice(0, 100))} not found`);
  return await runAgent(request, agent, call);
}

const acceptedSchema = z.object({ id: z.string() });
const commandSchema = z.object({ command: z.string(), text: z.string() });

async function runAgent(request: McpRequest, tool: AgentTool, call: ToolCall): Promise<ToolAnswer> {
  return await runTask(request, {
    ...roundOf(call),
    start: async () => acceptedSchema.parse((await request.forward('submitTask', { body: tool.read(call.arguments ?? {}) })).body).id,
    isOwn: ({ body }) => body.agent === tool.agent,
  });
}

async function askSession(request: McpRequest, tool: FleetTool, call: ToolCall): Promise<ToolAnswer> {
  const { arguments: given = {} } = call;
  const round = roundOf(call);
  const isOwn: TaskCall['isOwn'] = ({ body }) => body.session === given['session'];
  if (round.earlier !== undefined) return await runTask(request, { ...round, start: hasBegun, isOwn });
  const { body } = await request.forward(tool.operation, tool.read(given));
  // A message may be a command of the session, which is applied at once.
  const command = commandSchema.safeParse(body).data;
  if (command !== undefined) return { content: [{ type: 'text', text: command.text }], structuredContent: command };
  const { id } = acceptedSchema.parse(body);
  return await runTask(request, { ...round, start: () => Promise.resolve(id), isOwn });
}

function hasBegun(): Promise<never> {
  return Promise.reject(new Error('A call that goes on makes no task'));
}

function roundOf({ context }: ToolCall): Pick<TaskCall, 'client' | 'earlier' | 'responses' | 'onState'> {
  const { mcpReq } = context;
  const { inputResponses: responses } = mcpReq;
  return { client: abilitiesOf(context), earlier: mcpReq.requestState(), responses, onState: progressOf(context) };
}
