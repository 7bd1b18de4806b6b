import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { chatProblems } from './chat.ts';
import { environmentSchema, type Environment } from './environment.ts';
import { describeImportFailure } from './import-failure.ts';
import { importModule } from './import-module.ts';
import { mistypedVariables } from './secrets/mistyped-variables.ts';
import { redisFileProblems } from './redis-url.ts';
import { fileVariableOf, readSecretFiles } from './secrets/secret-files.ts';
import { secretVariables } from './secrets/secret-variables.ts';
import { placeOf } from './source-code.ts';
import { toolProblems } from './settings/model-settings.ts';
import { endpointProblems } from './settings/money-settings.ts';
import { laneProblems } from './settings/routing-settings.ts';
import { settingsSchema, type Settings } from './settings/settings.ts';
import { MusterError } from '../errors/index.ts';
import { isAgentSchema, jsonSchemaOf } from '../text/index.ts';

export interface Config {
  readonly env: Environment;
  readonly settings: Settings;
  /** Of the settings in the file, without what the environment of a process adds. */
  readonly digest: string;
  /** The folder that relative paths of the configuration start from. */
  readonly directory: string;
  /** A variable of the environment as it was when the configuration was read; undefined when it was not set. */
  readonly readVariable: (name: string) => string | undefined;
}

interface LoadedConfig extends Config {
  /** A line for each setting under a name that changed and is still read. */
  readonly warnings: readonly string[];
  /** A line for each variable whose name is nearly that of one that is read. */
  readonly mistyped: readonly string[];
}

/** Enough to tell configurations of one fleet apart. */
const DIGEST_CHARACTERS = 12;

/** Settings that have another name now: section, old name, new name. */
const OLD_NAMES = [
  ['scheduler', 'maxWritsPerRun', 'maxDirectivesPerRun'],
  ['commands', 'lookMs', 'pollMs'],
  ['deliveries', 'lookMs', 'pollMs'],
  ['events', 'lookMs', 'pollMs'],
] as const;

/** Settings that there are no more, which have no effect: section, name. */
const RETIRED = [
  ['dispatch', 'direct'],
  ['worker', 'fleetFullMs'],
] as const;

/**
 * Reads the environment and `muster.config.ts` and validates both completely.
 * Throws `config.invalid` with one line per problem in `details.problems`, all of them at once.
 */
export async function loadConfig(variables: NodeJS.ProcessEnv = process.env, cwd: string = process.cwd()): Promise<LoadedConfig> {
  // An empty one is not set.
  const named = variables['MUSTER_CONFIG'];
  const file = resolve(cwd, named || 'muster.config.ts');
  const ofFile: string[] = [];
  const written = await readFile(file, Boolean(named), ofFile);
  const { renamed, warnings } = renameSettings(written);
  const settings = settingsSchema.safeParse(renamed);
  const { given, env, problems } = readEnvironment(variables, settings.data?.agents);
  problems.push(...ofFile);
  if (!settings.success) problems.push(...describe(settings.error, (path) => placeOf(file, path)));
  const ofSettings = settings.success ? [...agentNameProblems(settings.data), ...toolProblems(settings.data)] : [];
  problems.push(...[...laneProblems(written), ...endpointProblems(written), ...ofSettings].map((problem) => `${file}: ${problem}`));
  if (problems.length > 0 || !env.success || !settings.success) throw invalidConfig(problems);
  const digest = createHash('sha256').update(JSON.stringify(settings.data, schemasAsJson)).digest('hex').slice(0, DIGEST_CHARACTERS);
  applyEnvironment(env.data, settings.data);
  offerAssistant(env.data, settings.data);
  return {
    env: env.data,
    settings: settings.data,
    digest,
    directory: resolve(file, '..'),
    readVariable: (name) => given[name],
    warnings: [...warnings, ...oldAgentNames(settings.data)],
    mistyped: mistypedVariables(Object.keys(given), knownVariables(settings.data.agents)),
  };
}

/** Those of the fleet, of its commands, and those that say the files of secrets. */
function knownVariables(agents: Settings['agents']): string[] {
  const secrets = secretVariables(agents);
  return [...Object.keys(environmentSchema.shape), 'MUSTER_URL', ...secrets, ...secrets.map(fileVariableOf)];
}

/** A schema's own members are those of its library. */
function schemasAsJson(name: string, value: unknown): unknown {
  if (!isAgentSchema(value)) return value;
  return jsonSchemaOf(value, name === 'output' ? 'output' : 'input') ?? 'schema';
}

/** An agent made by `defineAgent` says its name itself, which programs that send it work use. */
function agentNameProblems({ agents }: Settings): string[] {
  return Object.entries(agents).flatMap(([id, agent]) =>
    agent.kind === 'function' && agent.name !== undefined && agent.name !== id
      ? [`agents.${id}: expected the name of the agent, "${agent.name}"`]
      : [],
  );
}

/** Reads the environment alone, for a process that loads no configuration itself. Throws `config.invalid`. */
export function loadEnvironment(variables: NodeJS.ProcessEnv = process.env): Pick<Config, 'env' | 'readVariable'> {
  const { given, env, problems } = readEnvironment(variables);
  if (problems.length > 0 || !env.success) throw invalidConfig(problems);
  return { env: env.data, readVariable: (name) => given[name] };
}

interface ReadEnvironment {
  /** The variables that are set, with the secrets that files have. */
  given: NodeJS.ProcessEnv;
  env: z.ZodSafeParseResult<Environment>;
  problems: string[];
}

/** `agents`: those of the configuration, which may name secrets of their own. */
function readEnvironment(variables: NodeJS.ProcessEnv, agents: Settings['agents'] = {}): ReadEnvironment {
  // Compose and Kubernetes pass an unset variable as an empty one.
  const set: NodeJS.ProcessEnv = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const { given, problems: ofSecrets } = readSecretFiles(set, secretVariables(agents));
  const env = environmentSchema.safeParse(given);
  const problems = env.success
    ? [...adminKeyProblems(env.data), ...redisFileProblems(env.data.REDIS_URL)]
    : describe(env.error, () => 'environment');
  return { given, env, problems: [...ofSecrets, ...problems, ...chatProblems(given)] };
}

/** The settings under their new names, without retired ones, with a line for each. An old name wins where both are set. */
function renameSettings(written: unknown): { renamed: unknown; warnings: string[] } {
  if (!isRecord(written)) return { renamed: written, warnings: [] };
  const renamed: Record<string, unknown> = { ...written };
  const warnings: string[] = [];
  for (const [section, oldName, newName] of OLD_NAMES) {
    const values = renamed[section];
    if (!isRecord(values) || values[oldName] === undefined) continue;
    const { [oldName]: value, ...others } = values;
    renamed[section] = { ...others, [newName]: value };
    warnings.push(`${section}.${oldName} is called ${section}.${newName} now`);
  }
  for (const [section, name] of RETIRED) {
    const values = renamed[section];
    if (!isRecord(values) || values[name] === undefined) continue;
    const { [name]: _retired, ...others } = values;
    renamed[section] = others;
    warnings.push(`${section}.${name} has no effect any more`);
  }
  return { renamed, warnings };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function oldAgentNames({ agents }: Settings): string[] {
  const named = Object.entries(agents).filter(([, agent]) => 'writs' in agent && agent.writs !== undefined);
  return named.map(([id]) => `agents.${id}.writs is called directives now`);
}

/** Slots for the queue `remote` of a worker with capabilities. */
const CAPABLE_SLOTS = 4;

/** What the environment says wins over the file. */
function applyEnvironment(env: Environment, settings: Settings): void {
  const { MUSTER_MAX_CONCURRENT: maxConcurrent, MUSTER_COMMAND_UID: uid, MUSTER_CAPABILITIES: capabilities } = env;
  const { MUSTER_OIDC_CLIENT_SECRET: clientSecret, MUSTER_COMMAND_MEMORY_MB: memoryMb } = env;
  const { oidc } = settings.signIn;
  if (capabilities) settings.queues.remote = { slots: CAPABLE_SLOTS, ...settings.queues.remote };
  if (maxConcurrent !== undefined) settings.limits.maxConcurrent = maxConcurrent;
  if (uid !== undefined) settings.commands.uid = uid;
  if (memoryMb !== undefined) settings.commands.limits.memoryMb = memoryMb;
  if (clientSecret !== undefined && oidc !== undefined) oidc.clientSecret = clientSecret;
}

/** Random characters: too many to guess through HTTP. */
const STRONG_KEY_LENGTH = 16;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i;

/** A short key is enough on a machine of one's own, and nowhere else. */
function adminKeyProblems({ HOST, MUSTER_ADMIN_KEY: key }: Environment): string[] {
  if (key === undefined || key.length >= STRONG_KEY_LENGTH || LOOPBACK.test(HOST)) return [];
  return [
    `environment: MUSTER_ADMIN_KEY: expected at least ${STRONG_KEY_LENGTH} characters where others reach the address (HOST is ${HOST}), got ${key.length}`,
  ];
}

/** The agent `assistant` ships with Muster and is there as soon as a model can be reached. */
function offerAssistant(env: Environment, settings: Settings): void {
  if (env.OPENAI_BASE_URL === undefined && env.OPENAI_API_KEY === undefined) return;
  settings.agents['assistant'] ??= {
    kind: 'openai',
    model: env.OPENAI_MODEL,
    description: 'Answers with the model behind OPENAI_BASE_URL.',
    system: 'You are a helpful assistant. Answer briefly and plainly.',
  };
}

async function readFile(file: string, isNamed: boolean, problems: string[]): Promise<unknown> {
  if (!existsSync(file)) {
    if (isNamed) problems.push(`MUSTER_CONFIG: there is no file at ${file}`);
    return {};
  }
  try {
    const { default: written } = await importModule(file);
    if (written === undefined) problems.push(`${file}: expected a default export, as in "export default defineConfig({ ... })"`);
    return written ?? {};
  } catch (cause) {
    problems.push(describeImportFailure(file, cause));
    return {};
  }
}

function describe(error: z.ZodError, placeOfPath: (path: readonly PropertyKey[]) => string): string[] {
  return error.issues.map((issue) => {
    // What is wrong with a name is inside of the issue about the record that holds it.
    const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    return `${placeOfPath(issue.path)}: ${issue.path.join('.') || '(whole)'}: ${message}`;
  });
}

/** `config.invalid` with a line per problem; `details.problems` has the same apart. */
export function invalidConfig(problems: readonly string[]): MusterError {
  const lines = problems.map((problem) => `  - ${problem}`).join('\n');
  return new MusterError(
    'config.invalid',
    `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${lines}`,
    { details: { problems } },
  );
}
