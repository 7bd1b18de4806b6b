import { createHash } from 'node:crypto';
import { agentInput, type CatalogEntry, schemaOfField } from '#shared/agents/index.ts';
import { invalidRequest, type JsonSchema } from '#shared/http/index.ts';
import { plainLine } from '#shared/text/index.ts';
import type { McpRequest } from './mcp-request.ts';

type Arguments = Readonly<Record<string, unknown>>;

/** An agent as a tool: a call is a task of it, and its result is the tool's. */
export interface AgentTool {
  readonly name: string;
  readonly agent: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The fields of the task that a call stands for. Errors: `request.invalid`. */
  read(given: Arguments): { agent: string; input: unknown; session?: unknown };
}

const DIGEST = 8;

const SESSION = {
  type: 'string',
  description: 'A conversation: its tasks run one after another, and know what was said before.',
};

/**
 * The agents that the caller may give tasks to, by the names of their tools. `taken` are names of other tools: an agent of such a name has a tool
 * under another one, as has an agent whose name is none for a tool.
 */
export async function agentTools(
  { ports, tenant }: McpRequest,
  taken: ReadonlyMap<string, unknown>,
): Promise<ReadonlyMap<string, AgentTool>> {
  const { items } = await ports.catalog.list(tenant);
  const named = items.map((entry) => makeTool(entry, taken.has(entry.id) || !isToolName(entry.id) ? otherName(entry.id) : entry.id));
  // Where two came to the same name, the agent that is really called so has it.
  const own = named.toSorted((a, b) => Number(b.name === b.agent) - Number(a.name === a.agent));
  const tools = new Map<string, AgentTool>();
  for (const tool of own) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return new Map([...tools].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Models take no other names. */
function isToolName(name: string): boolean {
  return /^[\w-]{1,64}$/.test(name);
}

function otherName(agent: string): string {
  const digest = createHash('sha256').update(agent).digest('hex').slice(0, DIGEST);
  return `${agent.replaceAll(/[^\w-]/g, '_').slice(0, 64 - 1 - DIGEST)}_${digest}`;
}

function makeTool({ id, definition }: CatalogEntry, name: string): AgentTool {
  const about = plainLine(definition.description ?? '');
  const tool = { name, agent: id, description: `${about === '' ? 'An agent of this fleet.' : about} (agent ${id})` };
  const takes = agentInput(definition, 'What the agent is given.');
  if ('schema' in takes) return { ...tool, inputSchema: takes.schema, read: (given) => ({ agent: id, input: given }) };
  return { ...tool, inputSchema: schemaOfField(takes.input, { session: SESSION }), read: (given) => readPlain(id, given) };
}

function readPlain(agent: string, { input, session, ...unknown }: Arguments): { agent: string; input: unknown; session?: unknown } {
  const problems = Object.keys(unknown).map((name) => ({ path: `arguments.${name}`, message: 'expected input and session only' }));
  if (input === undefined || input === null) problems.unshift({ path: 'arguments.input', message: 'expected what the agent is given' });
  if (problems.length > 0) throw invalidRequest(problems);
  return { agent, input, ...(session === undefined || session === null ? {} : { session }) };
}
