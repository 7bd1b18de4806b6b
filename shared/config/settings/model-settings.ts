import { z } from 'zod';
import { type AgentSchema, isAgentSchema, jsonSchemaOf } from '../../text/index.ts';
import type { Tool } from '../define-agent.ts';
import { int } from '../fields.ts';

/** How models are called. */
export const modelCallSettingsSchema = z
  .strictObject({
    /** Output tokens at most of a call that names no bound, of a model with a price. Defaults to 4096. */
    maxOutputTokens: int(4096),
    /** Where a budget has no more left, a call goes with a smaller bound of its output, down to so many tokens. Defaults to 256. */
    minOutputTokens: int(256),
  })
  .prefault({});

/** Calls that go by a provider's batches. */
export const modelBatchSettingsSchema = z
  .strictObject({
    /** Requests of one batch. OpenAI takes 50,000, and a script of Redis some thousands. At most 5000; defaults to 1000. */
    maxRequests: z.number().int().min(1).max(5000).default(1000),
    /** Bytes of the file with the requests of one batch. OpenAI takes 200 MB. Defaults to 20 MB. */
    maxBytes: int(20_000_000),
    /** Bytes of one request; a larger one is called directly. Defaults to 1 MB. */
    maxRequestBytes: int(1_000_000),
    /** Requests of the fleet that wait to be sent; further ones are called directly. Defaults to 10,000. */
    maxWaiting: int(10_000),
    /** How long requests are gathered before they are sent, unless they are enough before. Defaults to a minute. */
    gatherMs: int(60_000),
    /** Between two looks at a batch; doubled by each that fails, up to `maxPollMs`. Defaults to 10 s. */
    pollMs: int(10_000, 10),
    /** Longest time between two looks at a batch. Defaults to five minutes. */
    maxPollMs: int(300_000, 10),
    /** Longest time of one request to the provider, and how long others leave a batch to a process that died. Defaults to two minutes. */
    stepMs: int(120_000, 100),
    /** So long before the end of a task's `within` its calls go directly, answered or not. Defaults to 15 minutes. */
    marginMs: int(900_000, 0),
    /** The shortest `within` of a task. Defaults to an hour. */
    minWithinMs: int(3_600_000, 1),
  })
  .prefault({});

/** When calls of an agent to an endpoint that fails again and again wait until it answers. */
export const circuitSettingsSchema = z
  .strictObject({
    /** Failed calls in a row that open a circuit. Defaults to 5. */
    failures: int(5),
    /** A call that a timeout ended counts as failed when nothing had come for so long. Defaults to 10 s. */
    silenceMs: int(10_000, 10),
    /** Before the first call that tries an open circuit again; doubled by each that fails. Defaults to 10 s. */
    openMs: int(10_000, 10),
    /** Longest time between two such calls. Defaults to five minutes. */
    maxOpenMs: int(300_000, 10),
    /** How long such a call may take before another one tries as well. Defaults to two minutes. */
    probeMs: int(120_000, 10),
    /** Between two checks for tasks that circuits hold and that may start. Defaults to a second. */
    checkMs: int(1000, 20),
    /** A task that a circuit holds tries its call after so long, released or not. Defaults to 30 minutes. */
    maxHoldMs: int(1_800_000, 1000),
    /** How long failures count after the last one. Defaults to an hour. */
    retentionMs: int(3_600_000, 1000),
    /** Circuits of a tenant; failures of further agents and endpoints are not counted. Defaults to 1000. */
    maxRecords: int(1000),
  })
  .prefault({});

const functionSchema = <T>(): z.ZodType<T, T> => z.custom<T>((value) => typeof value === 'function', 'expected a function');

const toolSchema = z.strictObject({
  description: z.string().min(1).max(4000),
  input: z
    .custom<AgentSchema>(isAgentSchema, 'expected a schema, as of zod')
    .refine(isSayable, 'expected a schema that JSON Schema can say'),
  run: functionSchema<Tool['run']>(),
  approve: z.union([z.enum(['always', 'never']), functionSchema<(input: never) => boolean>()]).optional(),
});

function isSayable(schema: AgentSchema): boolean {
  return jsonSchemaOf(schema, 'input') !== null;
}

/** What models call tools by. */
const toolNameSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected letters, digits, "_" or "-", at most 64');

const BOUND = 'maxResultBytes';
const MAX_RESULT_BYTES = 32_768;

function toolsIn(tools: Readonly<Record<string, z.output<typeof toolSchema> | number>>): Record<string, Tool> {
  const found: Record<string, Tool> = {};
  for (const [name, tool] of Object.entries(tools)) {
    if (typeof tool === 'number') continue;
    const { approve, ...others } = tool;
    found[name] = approve === undefined ? others : { ...others, approve };
  }
  return found;
}

/** `tools`: each by its name, and one bound for all. */
export const toolsSchema = z
  .record(toolNameSchema, z.union([toolSchema, z.number().int().min(1)]))
  .superRefine((tools, context) => {
    for (const [name, tool] of Object.entries(tools)) {
      if ((typeof tool === 'number') === (name === BOUND)) continue;
      context.addIssue({ code: 'custom', path: [name], message: name === BOUND ? 'expected a number of bytes' : 'expected a tool' });
    }
  })
  .transform((tools) => ({
    /** Bytes of what a tool gives that a model is told; the rest is left out, which a note says. */
    maxResultBytes: typeof tools[BOUND] === 'number' ? tools[BOUND] : MAX_RESULT_BYTES,
    byName: toolsIn(tools),
  }));

const address = z.url({ protocol: /^https?$/ });
const allow = z.array(z.string().min(1).max(128)).max(1000);

/** `mcp`: servers whose tools agents may use, each by its name. */
export const mcpSchema = z.record(
  toolNameSchema,
  z.union([
    z.strictObject({
      /** Of a server of the Model Context Protocol by streamable HTTP; `outbound.allowNetworks` says which private ones may be reached. */
      url: address,
      headers: z.record(z.string(), z.string()).optional(),
      /** The only tools of it that agents get; by default all. */
      allow: allow.optional(),
    }),
    z.strictObject({
      /** A program that is such a server by its stdin and stdout. It runs for one attempt, kept apart as a command agent is. */
      command: z.array(z.string()).min(1),
      env: z.record(z.string(), z.string()).optional(),
      passEnv: z.array(z.string()).optional(),
      allow: allow.optional(),
    }),
  ]),
);

export type McpServer = z.infer<typeof mcpSchema>[string];

/** What an agent may name for its model. */
interface Naming {
  readonly kind: string;
  readonly tools?: readonly string[] | undefined;
  readonly mcp?: readonly string[] | undefined;
  readonly delegates?: readonly string[] | undefined;
}

/** It is there where the environment has a model. */
const SHIPPED = 'assistant';

/** Names that agents give their models and that there are not, or twice: a line for each. */
export function toolProblems({
  agents,
  tools,
  mcp,
}: {
  readonly agents: Readonly<Record<string, Naming>>;
  readonly tools: z.output<typeof toolsSchema>;
  readonly mcp: Readonly<Record<string, McpServer>>;
}): string[] {
  const known = { tools: tools.byName, mcp, delegates: { ...agents, [SHIPPED]: true } };
  return Object.entries(agents).flatMap(([id, agent]) => {
    const missing = (['tools', 'mcp', 'delegates'] as const).flatMap((field) =>
      (agent[field] ?? [])
        .filter((name) => !Object.hasOwn(known[field], name))
        .map((name) => `${field}: there is no "${name}" in ${placeOf(field)}`),
    );
    const names = [...(agent.tools ?? []), ...(agent.delegates ?? [])];
    const twice = new Set(names.filter((name, at) => names.indexOf(name) < at));
    return missing.concat([...twice].map((name) => `tools: two of them are called "${name}"`)).map((problem) => `agents.${id}.${problem}`);
  });
}

function placeOf(field: 'tools' | 'mcp' | 'delegates'): string {
  return `${field === 'delegates' ? 'agents' : field} of the configuration`;
}
