import { resolve } from 'node:path';
import type { CommandPlace, CommandRun, StartedSession } from '../command-run.ts';
import type { AttemptFolder } from '../folder/attempt-folder.ts';
import type { Preset } from '../presets/preset.ts';
import { PRESETS } from '../presets/presets.ts';
import type { PresetServer } from '../presets/preset-server.ts';
import type { PresetSession } from '../presets/preset-session.ts';

type Definition = CommandRun['definition'];

const PROMPT = '{prompt}';
const PROMPT_FILE = '{promptFile}';
const VARIABLE = '{variable}';

export function presetOf({ preset }: Definition): Preset | undefined {
  return preset === undefined ? undefined : PRESETS[preset];
}

/** How a coding agent asks people over its stdin and stdout; undefined where it does not. */
export function serverOf(definition: Definition): PresetServer | undefined {
  return definition.permissions === undefined ? undefined : presetOf(definition)?.server;
}

/** How a coding agent's sessions go on; undefined where it has none, or its definition sees to them. */
export function sessionOf(definition: Definition): PresetSession | undefined {
  const session = presetOf(definition)?.session;
  return definition.command?.some((word) => session?.ownWords.includes(word)) === true ? undefined : session;
}

/** The program and its arguments, as the definition and its preset say. */
export function commandOf(
  definition: Definition,
  { session = null, furtherWords = [] }: Pick<CommandPlace, 'session' | 'furtherWords'> = {},
): { program: string; args: string[] } {
  const preset = presetOf(definition);
  const command = definition.command ?? [preset?.program ?? ''];
  const words = serverOf(definition)?.words(command) ?? [...command, ...optionsOf(preset, session), ...inputOptionsOf(definition)];
  const [program = '', ...args] = words;
  return { program, args: [...args, ...furtherWords] };
}

function optionsOf(preset: Preset | undefined, session: StartedSession | null): readonly string[] {
  if (preset === undefined) return [];
  if (session === null || preset.session === undefined) return preset.options;
  return session.isResumed ? preset.session.resume(session.id) : [...preset.options, ...(preset.session.begin?.(session.id) ?? [])];
}

function inputOptionsOf(definition: Definition): readonly string[] {
  return definition.takesInput === true ? (presetOf(definition)?.inputOptions ?? []) : [];
}

/** What is started for one attempt. */
export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the prompt is among the arguments, and not on stdin. */
  readonly hasPrompt: boolean;
}

export interface CommandLinePlace extends Pick<CommandPlace, 'session' | 'furtherWords'> {
  /** The folder that a relative program starts from. */
  readonly base: string;
  /** The folder that it runs in. */
  readonly cwd: string;
  readonly mark: string;
  readonly folder: AttemptFolder;
  /** Names of the variables that the program gets. */
  readonly variables: readonly string[];
}

export function sandboxOf({ sandbox }: Definition, settings: { readonly sandbox: readonly string[] }): readonly string[] {
  return sandbox ?? settings.sandbox;
}

/** Fills in the prompt where arguments ask for it, and puts the words of the sandbox in front. */
export async function buildCommandLine(
  { definition, task }: Pick<CommandRun, 'definition' | 'task'>,
  sandbox: readonly string[],
  place: CommandLinePlace,
): Promise<CommandLine> {
  const { program, args } = commandOf(definition, place);
  const path = args.includes(PROMPT_FILE) ? await place.folder.writeBeside('prompt.txt', task.input) : PROMPT_FILE;
  // What lies in the folder it runs in starts also where its user may not go through the folders above.
  const isThere = sandbox.length === 0 && place.base === place.cwd;
  const file = program.includes('/') && !isThere ? resolve(place.base, program) : program;
  const own = args.map((arg) => (arg === PROMPT ? task.input : arg === PROMPT_FILE ? path : arg));
  const [first = file, ...rest] = [...fillSandbox(sandbox, place), file, ...own];
  return { file: first, args: rest, hasPrompt: args.includes(PROMPT) || args.includes(PROMPT_FILE) };
}

/** The words of a sandbox for one attempt. */
export function fillSandbox(words: readonly string[], { folder, cwd, mark, variables }: Omit<CommandLinePlace, 'base'>): string[] {
  const values: Readonly<Record<string, string>> = {
    dir: folder.path,
    work: folder.work,
    home: folder.home,
    tmp: folder.temporary,
    cwd,
    name: `muster-${mark}`,
  };
  const fill = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (word, name: string) => values[name] ?? word);
  return words.flatMap((word) => (word.includes(VARIABLE) ? variables.map((name) => fill(word.replaceAll(VARIABLE, name))) : [fill(word)]));
}
