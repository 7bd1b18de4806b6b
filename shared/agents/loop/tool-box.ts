import type { AgentContext, AgentDefinition, Settings, Tool } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import type { CallerFunction, ModelRequest } from '../../tasks/index.ts';
import { checkValue, jsonSchemaOf, sentenceOf } from '../../text/index.ts';
import { agentInput, asSchema, schemaOfField } from './tool-schema.ts';
import type { ToolSpec } from './tool-spec.ts';

/** What an agent names of what its model may call. */
export interface NamedTools {
  readonly tools?: readonly string[] | undefined;
  readonly mcp?: readonly string[] | undefined;
  readonly delegates?: readonly string[] | undefined;
}

/** The same, and what the caller of a request does itself. */
export interface GivenTools extends NamedTools {
  readonly functions?: readonly CallerFunction[] | undefined;
}

/** What MCP servers have, and the calling of it. */
export interface ServedTools {
  list(server: string): Promise<ToolSpec[]>;
  call(server: string, name: string, input: unknown): Promise<unknown>;
}

export interface ToolBoxOptions {
  /** By name: those of the configuration, or of the agent's own. */
  readonly tools: Readonly<Record<string, Tool>>;
  readonly maxResultBytes: number;
  readonly mcp: ServedTools;
  readonly agents: Readonly<Record<string, AgentDefinition>>;
}

/** Whether the model of an agent has anything to call. */
function hasTools({ tools = [], mcp = [], delegates = [] }: NamedTools): boolean {
  return tools.length + mcp.length + delegates.length > 0;
}

/** Whether the model of a run may call anything. */
export function callsTools(definition: NamedTools, request: Pick<ModelRequest, 'functions'> | null): boolean {
  return hasTools(definition) || (request?.functions?.length ?? 0) > 0;
}

/** Whether a run of an agent has a journal. `mayWait`: its calls may go by batches. */
export function keepsJournal(definition: AgentDefinition, request: Pick<ModelRequest, 'functions'> | null, mayWait: boolean): boolean {
  if (definition.kind === 'openai') return mayWait || callsTools(definition, request);
  return definition.kind === 'function';
}

/** The tools of the configuration as a runner has them. */
export function configuredTools({ tools }: { tools?: Settings['tools'] | undefined }): Pick<ToolBoxOptions, 'tools' | 'maxResultBytes'> {
  return { tools: tools?.byName ?? {}, maxResultBytes: tools?.maxResultBytes ?? Infinity };
}

/** ToolBox is responsible for what the model of one run may call: what it is told of it, and the doing. */
export class ToolBox {
  readonly #options: ToolBoxOptions;

  constructor(options: ToolBoxOptions) {
    this.#options = options;
  }

  get maxResultBytes(): number {
    return this.#options.maxResultBytes;
  }

  /** Of all that an agent names. Asks MCP servers what they have. Errors: RESOURCE_NOT_FOUND for a name that there is not, and those of a server. */
  async list({ tools = [], mcp = [], delegates = [], functions = [] }: GivenTools): Promise<ToolSpec[]> {
    const own = [
      ...tools.map((name) => this.#specOf(name)),
      ...delegates.map((name) => this.#delegateSpec(name)),
      ...functions.map(callerSpec),
    ];
    const served = (await Promise.all(mcp.map((server) => this.#options.mcp.list(server)))).flat();
    return withoutClashes(own, served);
  }

  /** Whether a person has to approve a call. */
  needsApproval({ of, name }: ToolSpec, input: unknown): boolean {
    const approve = of === 'tools' ? (this.#find(name)?.approve ?? 'never') : 'never';
    if (typeof approve !== 'function') return approve === 'always';
    const tool = this.#find(name);
    const checked = tool && checkValue(tool.input, input);
    // A call that does not fit is not done, so nobody is asked.
    return checked !== undefined && checked.problems === undefined && approve(given(checked.value));
  }

  /** Why a call cannot be done, for the model; null where it can. */
  problemOf({ of, name }: ToolSpec, input: unknown): string | null {
    if (of !== 'tools') return null;
    const tool = this.#find(name);
    if (tool === undefined) return `There is no tool "${name}" any more`;
    const checked = checkValue(tool.input, input);
    return checked.problems === undefined ? null : `The input does not fit the schema: ${sentenceOf('input', checked.problems)}`;
  }

  /** Does what a tool does. Rejects with what it throws. */
  async call({ of, name, server = '', at = name }: ToolSpec, input: unknown, context: AgentContext): Promise<unknown> {
    if (of === 'mcp') return await this.#options.mcp.call(server, at, input);
    const tool = this.#find(name);
    if (tool === undefined) throw new Error(`There is no tool "${name}" any more`);
    const checked = checkValue(tool.input, input);
    if (checked.problems !== undefined) throw new Error(sentenceOf('input', checked.problems));
    return await tool.run(given(checked.value), context);
  }

  #find(name: string): Tool | undefined {
    const { tools } = this.#options;
    return Object.hasOwn(tools, name) ? tools[name] : undefined;
  }

  #specOf(name: string): ToolSpec {
    const tool = this.#find(name);
    if (tool === undefined)
      throw new TaskFailure('RESOURCE_NOT_FOUND', `There is no tool "${name}": the configuration has no tools.${name}`);
    return { name, description: tool.description, schema: asSchema(jsonSchemaOf(tool.input, 'input') ?? { type: 'object' }), of: 'tools' };
  }

  #delegateSpec(name: string): ToolSpec {
    const { agents } = this.#options;
    const agent = Object.hasOwn(agents, name) ? agents[name] : undefined;
    if (agent === undefined) throw new TaskFailure('RESOURCE_NOT_FOUND', `There is no agent "${name}" to delegate to`);
    const about = agent.description ?? `Gives a task to the agent "${name}".`;
    const takes = agentInput(agent, 'What the agent is asked to do.');
    const input = 'schema' in takes ? takes : { schema: schemaOfField(takes.input), field: 'input' as const };
    return { name, description: `${about} Answers with what the agent did.`, of: 'delegates', ...input };
  }
}

/** What the schema of a tool made of its input is what that tool takes. */
function given(value: unknown): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return value as never;
}

function callerSpec({ name, description, parameters }: CallerFunction): ToolSpec {
  return { name, description, schema: asSchema({ type: 'object', properties: {}, ...parameters }), of: 'caller' };
}

/** A tool of a server whose name is taken gets the server's before it. Errors: INVALID_INPUT where that is taken too. */
function withoutClashes(own: readonly ToolSpec[], served: readonly ToolSpec[]): ToolSpec[] {
  const all = new Map<string, ToolSpec>();
  for (const spec of [...own, ...served]) {
    const name = all.has(spec.name) && spec.server !== undefined ? `${spec.server}_${spec.name}` : spec.name;
    if (all.has(name)) throw new TaskFailure('INVALID_INPUT', `Two of the agent's tools are called "${name}"`);
    all.set(name, { ...spec, name });
  }
  return [...all.values()];
}
