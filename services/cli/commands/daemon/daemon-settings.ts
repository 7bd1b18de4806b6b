import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type AgentDefinition, agentDefinitionSchema, withdrawVariables } from '#shared/config/index.ts';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import type { CommandContext } from '../../command-context.ts';
import type { DaemonFlags } from './daemon.ts';
import { splitCommand } from './split-command.ts';

export const PRESET_NAMES = ['claude-code', 'codex', 'opencode', 'aider'] as const;

export type CommandDefinition = Extract<AgentDefinition, { kind: 'command' }>;

/** What `muster daemon` runs with. */
export interface DaemonSettings {
  readonly hub: string;
  readonly token: string;
  readonly name: string | undefined;
  readonly capabilities: readonly string[];
  readonly slots: number;
  readonly dataDir: string;
  /** By agent. */
  readonly commands: Readonly<Record<string, CommandDefinition>>;
  /** For every other agent; null when there are none. */
  readonly fallback: CommandDefinition | null;
}

/** Where known programs keep who they are signed in as: without these they could not work. */
const SIGN_IN: Readonly<Record<(typeof PRESET_NAMES)[number], readonly string[]>> = {
  'claude-code': [
    'HOME',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'ANTHROPIC_BASE_URL',
  ],
  codex: ['HOME', 'CODEX_HOME', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  opencode: ['HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY'],
  aider: ['HOME', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'OPENAI_API_BASE'],
};

/** Reads arguments, environment and token file. Throws a `CliProblem` that says what is missing. */
export async function readDaemonSettings(words: readonly string[], flags: DaemonFlags, context: CommandContext): Promise<DaemonSettings> {
  const commands = Object.fromEntries(
    Object.entries(flags.agent ?? {}).map(([agent, command]) => [agent, define({ command: splitCommand(command) }, flags, context)]),
  );
  const fallback = readFallback(words, flags, context);
  if (fallback === null && Object.keys(commands).length === 0) {
    throw usage('There is no command to run. Give one after --, or --agent name=command, or --preset. See: npx muster daemon --help');
  }
  const token = await readToken(flags, context);
  const hub = flags.hub ?? context.findAddress();
  return {
    hub,
    token,
    name: flags.name,
    capabilities: flags.capabilities ?? [],
    slots: flags.slots,
    dataDir: flags.dataDir === undefined ? defaultFolder(hub, token, context) : resolve(flags.dataDir),
    commands,
    fallback,
  };
}

function readFallback(words: readonly string[], flags: DaemonFlags, context: CommandContext): CommandDefinition | null {
  const { preset } = flags;
  if (words.length === 0 && preset === undefined) return null;
  return define({ ...(words.length === 0 ? {} : { command: words }), ...(preset === undefined ? {} : { preset }) }, flags, context);
}

function define(
  fields: { readonly command?: readonly string[]; readonly preset?: (typeof PRESET_NAMES)[number] },
  { cwd, passEnv = [], takesInput, silenceMs, askPermissions }: DaemonFlags,
  context: CommandContext,
): CommandDefinition {
  // What a program may need is passed where it is set; what a person named has to be there.
  const signIn = (fields.preset === undefined ? [] : SIGN_IN[fields.preset]).filter((name) => context.readVariable(name) !== undefined);
  const parsed = agentDefinitionSchema.safeParse({
    kind: 'command',
    ...fields,
    passEnv: [...new Set([...signIn, ...passEnv])],
    ...(askPermissions === true && fields.preset !== undefined ? { permissions: 'ask' } : {}),
    ...(cwd === undefined ? {} : { cwd: resolve(cwd) }),
    takesInput,
    silenceMs,
  });
  if (parsed.success && parsed.data.kind === 'command') return parsed.data;
  throw usage(parsed.error?.issues.map(({ message }) => message).join('; ') ?? 'The command cannot be read');
}

async function readToken({ token, tokenFile }: DaemonFlags, { env, terminal }: CommandContext): Promise<string> {
  if (token !== undefined) {
    terminal.note('Others on this machine can see the token in the list of processes: better MUSTER_DAEMON_TOKEN or --token-file.');
    return token;
  }
  if (tokenFile !== undefined) return await readTokenFile(tokenFile, (text) => terminal.note(text));
  // What the commands start cannot read it either.
  withdrawVariables(['MUSTER_DAEMON_TOKEN']);
  if (env.MUSTER_DAEMON_TOKEN !== undefined) return env.MUSTER_DAEMON_TOKEN;
  throw usage(
    'There is no token. Register this daemon (npx muster daemons add <name>), then set MUSTER_DAEMON_TOKEN or give --token-file.',
  );
}

async function readTokenFile(path: string, warn: (text: string) => void): Promise<string> {
  try {
    const [text, { mode }] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) warn(`Others on this machine can read ${path}: chmod 600 ${path}`);
    if (text.trim() !== '') return text.trim();
  } catch (cause) {
    throw usage(`The token file cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  throw usage(`The token file ${path} is empty.`);
}

/** Results of one daemon never reach the hub of another. */
function defaultFolder(hub: string, token: string, { env }: CommandContext): string {
  const digest = createHash('sha256').update(`${hub}\n${token}`).digest('hex').slice(0, 16);
  return join(env.MUSTER_DATA_DIR === undefined ? join(homedir(), '.muster') : resolve(env.MUSTER_DATA_DIR), 'daemons', digest);
}

function usage(message: string, cause?: unknown): CliProblem {
  return new CliProblem(message, { exitCode: EXIT.usage, ...(cause === undefined ? {} : { cause }) });
}
