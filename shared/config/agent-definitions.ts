import { z } from 'zod';
import { FAILURE_ROUTES, FIXED_FAILURES } from '../errors/index.ts';
import { type AgentSchema, isAgentSchema } from '../text/index.ts';
import { codexServerProblem } from './codex-words.ts';
import type { AgentFunction } from './define-config.ts';
import { capabilitySchema, durationSchema, executionFields, lineSchema, nameSchema } from './fields.ts';
import { ownLimitsSchema } from './settings/command-limits.ts';
import { ownSameInputSchema } from './settings/money-settings.ts';

const common = {
  /** One sentence for people: what the agent does. */
  description: z.string().max(500).optional(),
  ...executionFields,
  /**
   * Of the agent's code: a run goes on with the version that it began with, as long as a worker has that. Names an order of steps; change it when
   * that changes.
   */
  version: z
    .string()
    .regex(/^[\w.+-]{1,64}$/, 'expected 1 to 64 letters, digits, ".", "_", "+" or "-"')
    .optional()
    .describe('Of its code. Runs of an agent of the configuration go on with the version that they began with.'),
  /** What follows a failure with a code, or with a beginning of codes as `NETWORK_*`: `retry`, `stop` or `wait`. By default its class decides. */
  retries: z
    .record(
      z
        .string()
        .regex(/^[\w.:-]{1,64}\*?$/)
        .refine((code) => !FIXED_FAILURES.includes(code), 'expected a code whose route may be changed'),
      z.enum(FAILURE_ROUTES),
    )
    .optional(),
  /** The lane of its tasks that have no session, from `lanes` of the configuration. */
  lane: z.string().max(64).optional(),
  /** How long a run that waits without a slot keeps its session's lane: ms, or text as `5 minutes`. Defaults to 60 s. */
  holdLane: durationSchema.optional().describe('How long a run that waits without a slot keeps its lane: ms, or text as `5 minutes`.'),
  /** Its tasks that run at once, per tenant; others wait in the order in which they were accepted. */
  maxRunning: z.number().int().min(1).max(100_000).optional(),
  /** Instead of `runaways.sameInput`, each by itself: when equal inputs in a row are warned of and held; `false` for never. */
  sameInput: ownSameInputSchema.optional(),
};

const directives = {
  /**
   * Whether the lines of its output that begin with `/schedule` are applied, as its tenant's. By default they are, but not where a webhook or
   * a visitor has written into the task or its session: true applies them there as well, false nowhere.
   */
  directives: z.boolean().optional(),
  /** The old name of `directives`, still read. */
  writs: z.boolean().optional(),
};

/** Answers with its input, word by word. What a person writes is not the agent's own: its output is never read for directives. */
const echo = z.strictObject({ kind: z.literal('echo'), ...common });

const withinSchema = durationSchema
  .optional()
  .describe('How long its tasks may take, ms or text as `24h`: until then its calls may go by batches.');

const schemaSchema = z.custom<AgentSchema>(isAgentSchema, 'expected a schema, as of zod');

/** A function of the operator's own: given here, or as `run` exported by a file. */
const functionAgent = z.strictObject({
  kind: z.literal('function'),
  /** A module that exports `run`, relative to the configuration file. */
  file: z.string().min(1).optional(),
  run: z.custom<AgentFunction>((value) => typeof value === 'function', 'expected a function').optional(),
  /** Of an agent made by `defineAgent`: the name that it has in `agents`, and the schemas of what its tasks are given and result in. */
  name: nameSchema.optional(),
  input: schemaSchema.optional(),
  output: schemaSchema.optional(),
  /** Whether it calls `context.input()` while it runs, so that messages may go into its run. */
  takesInput: z.boolean().optional(),
  /** As `within` of an `openai` agent, for its calls by `context.model` and `context.agent`. */
  within: withinSchema,
  ...directives,
  ...common,
});

/** What `defineAgent` takes besides. */
export type FunctionAgentSettings = Omit<z.input<typeof functionAgent>, 'kind' | 'file' | 'run' | 'name' | 'input' | 'output'>;

/** What the model of an agent may do besides answering. From the configuration only. */
const modelTools = {
  /** Names of `tools` of the configuration. */
  tools: z.array(z.string().min(1).max(64)).max(128).optional(),
  /** Names of `mcp` of the configuration: servers whose tools it may call. */
  mcp: z.array(z.string().min(1).max(64)).max(32).optional(),
  /** Names of agents that it may give sub-tasks to, each a tool. */
  delegates: z.array(nameSchema).max(64).optional(),
};

/** Any OpenAI-compatible endpoint. */
const openai = z.strictObject({
  kind: z.literal('openai'),
  /** By default `OPENAI_BASE_URL`. */
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * By default `OPENAI_API_KEY`, which is only ever sent to the origin of `OPENAI_BASE_URL`, and used by agents made by API only where
   * `limits.fleetKeyForApiAgents` says so. Never read back by the API.
   */
  apiKey: z.string().min(1).optional(),
  /** The environment variable that holds the key. From the configuration only: by API it could name any secret of the fleet. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/)
    .optional(),
  model: z.string().min(1).max(200),
  system: z.string().max(100_000).optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxOutputTokens: z.number().int().min(1).max(1_000_000).optional(),
  /**
   * What a parameter of its calls is named instead, or null to leave it out: `{ max_tokens: 'max_completion_tokens', temperature: null }`. What
   * its server refuses is found out without it.
   */
  parameters: z.record(z.string().regex(/^[a-z_]{1,64}$/), z.string().min(1).max(64).nullable()).optional(),
  /**
   * Model calls of one run at most. Each answers what was said so far; another follows when it called tools, or messages arrived meanwhile. The last
   * one is given no tools. What arrives during it is the session's next turn. Defaults to 10, with tools to 25.
   */
  maxSteps: z.number().int().min(1).max(500).optional(),
  ...modelTools,
  /**
   * How long its tasks may take, ms or text as `24h`, unless they say: until then its calls may go by a provider's batches, at their price. See
   * [money](money.md#batches).
   */
  within: withinSchema,
  /** Price of a million input and output tokens in millionths of a US dollar, for `usage.costMicroUsd`. */
  priceMicroUsdPerMillion: z.strictObject({ input: z.number().min(0), output: z.number().min(0) }).optional(),
  ...directives,
  ...common,
});

/** POSTs the task to a URL, signed by Standard Webhooks; the answer is JSON or server-sent events. */
const http = z.strictObject({
  kind: z.literal('http'),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.record(z.string(), z.string()).optional(),
  /** Standard Webhooks secret, `whsec_...`. */
  secret: z.string().min(1).optional(),
  ...directives,
  ...common,
});

export const COMMAND_PRESETS = ['claude-code', 'codex', 'opencode', 'aider'] as const;
const commandPresetSchema = z.enum(COMMAND_PRESETS);
export type CommandPreset = z.infer<typeof commandPresetSchema>;

const notOption = lineSchema.min(1).max(2000).regex(/^[^-]/, 'expected something that does not begin with "-"');

const gitWorkspace = z.strictObject({
  git: notOption,
  /** A branch, a tag, or a commit in full. By default the branch that the repository names. */
  ref: notOption.optional(),
});
const emptyWorkspace = z.strictObject({ keep: z.literal(true) });

/** What the folder of a session begins as. */
export const workspaceSchema = z.union([gitWorkspace, z.strictObject({ path: z.string().min(1).max(4000) }), emptyWorkspace]);

/** The capability of daemons that keep workspaces; those of older releases do not. */
export const KEEPS_WORKSPACES = 'workspaces';

/** As `to`, `by` and `timeoutMs` of `ask`. */
const permissionsSchema = z.union([
  z.literal('ask'),
  z.strictObject({
    to: z.array(z.string().min(1).max(300)).min(1).max(50).optional(),
    by: z.enum(['anyone', 'others']).optional(),
    timeoutMs: durationSchema.optional(),
  }),
]);

/** Spawns a program: the prompt on its stdin, its stdout is the output. */
const command = z
  .strictObject({
    kind: z.literal('command'),
    /**
     * The program and its arguments; no shell reads them. An argument `{prompt}` is the prompt, which then is not on its stdin;
     * `{promptFile}` is the path of a file with it. With a `preset` it may be absent.
     */
    command: z.array(z.string()).min(1).optional(),
    /** What a worker has to have, by `MUSTER_CAPABILITIES`, besides what a task requires: its programs then run in a pool of their own. */
    capabilities: z.array(capabilitySchema).max(50).optional(),
    /** A coding agent that Muster knows: it gets the options that it needs, and its events become output, progress and usage. */
    preset: commandPresetSchema.optional(),
    /** Relative to the configuration file. By default a folder of the attempt's own, which is removed afterwards. */
    cwd: z.string().optional(),
    /**
     * Instead of `cwd`: a folder for each session, which goes on with its next run for as long as `workspaces.keepMs`. It begins as a checkout of a
     * repository (an address, or a path that is relative to the configuration file), as a copy of a folder, or empty.
     */
    workspace: workspaceSchema.optional(),
    /**
     * Of the presets `claude-code` and `codex`: `ask`, or who may answer and until when, for each request of its for permission to be a question to
     * people. Without it what its own settings do not allow is refused. Codex then runs as `codex app-server`.
     */
    permissions: permissionsSchema.optional(),
    env: z.record(z.string(), z.string()).optional(),
    /** Names of this process's variables that the program may see; PATH and LANG it sees anyway, HOME is the attempt's own otherwise. */
    passEnv: z.array(z.string()).optional(),
    /** Instead of those of `commands.limits`, each by itself. */
    limits: ownLimitsSchema.optional(),
    /** Instead of `commands.sandbox`; an empty list is none. */
    sandbox: z.array(z.string()).optional(),
    /**
     * Whether its stdin stays open, and messages that arrive while it runs are written to it, a line each. The prompt comes first,
     * with a line break at its end.
     */
    takesInput: z.boolean().optional(),
    /**
     * With `takesInput`: its stdin is closed once nothing was written in either direction for so long, in milliseconds. A program that reads
     * to the end can then begin. A later message is the session's next turn. Defaults to 5000 ms.
     */
    inputIdleMs: z.number().int().min(10).max(86_400_000).optional(),
    /**
     * Ends the attempt with COMMAND_SILENT once the program wrote nothing, to stdout or stderr, for so long, in milliseconds. Defaults to no
     * bound: some programs say nothing until they answer.
     */
    silenceMs: z.number().int().min(10).max(86_400_000).optional(),
    ...directives,
    ...common,
  })
  .refine(({ command: given, preset }) => given !== undefined || preset !== undefined, 'expected a "command" or a "preset"')
  .superRefine(({ preset, permissions, command: given = [] }, issues) => {
    const problem = permissions === undefined ? null : permissionProblem(preset, given);
    if (problem !== null) issues.addIssue({ code: 'custom', message: problem, path: ['permissions'] });
  })
  .refine(({ cwd, workspace }) => cwd === undefined || workspace === undefined, {
    message: 'expected "cwd" or "workspace", not both',
    path: ['workspace'],
  })
  .refine(({ preset, takesInput }) => takesInput !== true || preset === undefined || preset === 'claude-code', {
    message: 'only the preset "claude-code" takes input',
    path: ['takesInput'],
  });

/** Why a program with these words could not ask people; null where it can. */
function permissionProblem(preset: CommandPreset | undefined, words: readonly string[]): string | null {
  if (preset === 'codex') return codexServerProblem(words);
  if (preset === 'claude-code' && !words.includes('--permission-prompt-tool')) return null;
  return 'only the presets "codex" and "claude-code" ask for permissions, the latter without a --permission-prompt-tool of its own';
}

/** Runs on a daemon, which knows by the agent's name what to do: a command, a model, a program of its own. */
const daemon = z.strictObject({
  kind: z.literal('daemon'),
  /** What a daemon has to have, besides what a task requires. */
  capabilities: z.array(capabilitySchema).max(50).optional(),
  /** Whether messages may go into its runs, as `task.input`. */
  takesInput: z.boolean().optional(),
  /**
   * A folder for each session on the daemon's own disk, as that of a `command` agent; paths are those of its machine. Only daemons with the capability
   * `workspaces` get its tasks.
   */
  workspace: workspaceSchema.optional(),
  ...directives,
  ...common,
});

/** One agent of the catalog, as `muster.config.ts` writes it. */
export const agentDefinitionSchema = z.discriminatedUnion('kind', [echo, functionAgent, openai, http, command, daemon]);
export type AgentDefinition = z.infer<typeof agentDefinitionSchema>;
/** Whether the directives of an agent are applied: in all its answers, in none, or by default in those to `trusted` words. */
export function directivesOf(definition: AgentDefinition): boolean | 'trusted' {
  return definition.kind !== 'echo' && (definition.directives ?? definition.writs ?? 'trusted');
}

/** What the tasks of an agent are given; undefined for their text as it is. */
export function inputSchemaOf(definition: AgentDefinition): AgentSchema | undefined {
  return definition.kind === 'function' ? definition.input : undefined;
}

/** Whether its output is the plain output of a program, and no Markdown. Known coding agents answer in Markdown. */
export function hasPlainOutput(definition: AgentDefinition): boolean {
  return definition.kind === 'command' && definition.preset === undefined;
}

export type AgentKind = AgentDefinition['kind'];

/** The address of a repository elsewhere, and no folder of a machine. */
const REMOTE_GIT = /^(?:(?:https?|ssh|git):\/\/|[\w.-]+@[\w.-]+:)/i;

/** The folders of people's machines are for the configuration to name. */
const remoteGit = notOption.regex(REMOTE_GIT, 'expected the address of a repository, such as https://...');

export function isRemoteRepository(git: string): boolean {
  return REMOTE_GIT.test(git);
}

/** What the API may add: nothing that runs code of the caller's on our machines. */
export const apiAgentDefinitionSchema = z.discriminatedUnion('kind', [
  echo,
  openai.omit({ apiKeyEnv: true, tools: true, mcp: true, delegates: true }),
  http,
  daemon.extend({ workspace: z.union([gitWorkspace.extend({ git: remoteGit }), emptyWorkspace]).optional() }),
]);
export type ApiAgentDefinition = z.infer<typeof apiAgentDefinitionSchema>;

export const agentIdSchema = nameSchema;
