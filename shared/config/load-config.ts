import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import { chatProblems } from './chat-environment.ts';
import { environmentSchema, type Environment } from './environment.ts';
import { invalidConfig } from './invalid-config.ts';
import { laneProblems } from './lane-problems.ts';
import { settingsSchema, type Settings } from './settings.ts';

export interface Config {
  readonly env: Environment;
  readonly settings: Settings;
  /** The folder that relative paths of the configuration start from. */
  readonly directory: string;
}

/**
 * Reads the environment and `muster.config.ts` and validates both whole.
 * Throws `config.invalid` with one line per problem in `details.problems`, all of them at once.
 */
export async function loadConfig(variables: NodeJS.ProcessEnv = process.env, cwd: string = process.cwd()): Promise<Config> {
  const problems: string[] = [];
  // An empty variable is what compose and Kubernetes make of one that nobody set.
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''));
  const env = environmentSchema.safeParse(given);
  if (!env.success) problems.push(...describe(env.error, 'environment'));
  problems.push(...chatProblems(given));

  const named = given['MUSTER_CONFIG'];
  const file = resolve(cwd, named ?? 'muster.config.ts');
  const written = await readFile(file, named !== undefined, problems);
  const settings = settingsSchema.safeParse(written);
  if (!settings.success) problems.push(...describe(settings.error, file));
  problems.push(...laneProblems(written).map((problem) => `${file}: ${problem}`));

  if (problems.length > 0 || !env.success || !settings.success) throw invalidConfig(problems);
  if (env.data.MUSTER_MAX_CONCURRENT !== undefined) settings.data.limits.maxConcurrent = env.data.MUSTER_MAX_CONCURRENT;
  offerAssistant(env.data, settings.data);
  return { env: env.data, settings: settings.data, directory: resolve(file, '..') };
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
    const module: { default?: unknown } = await import(pathToFileURL(file).href);
    if (module.default === undefined) problems.push(`${file}: expected a default export, as in "export default defineConfig({ ... })"`);
    return module.default ?? {};
  } catch (cause) {
    problems.push(`${file}: cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`);
    return {};
  }
}

function describe(error: z.ZodError, where: string): string[] {
  return error.issues.map((issue) => {
    // What is wrong with a name is told inside of the issue about the record that holds it.
    const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
    return `${where}: ${issue.path.join('.') || '(whole)'}: ${message}`;
  });
}
