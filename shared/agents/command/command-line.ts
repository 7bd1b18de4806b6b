import { chown, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CommandRun, CommandUser } from './start-command.ts';
import type { AttemptFolder } from './attempt-folder.ts';
import type { Preset } from './presets/preset.ts';
import { PRESETS } from './presets/presets.ts';

type Definition = CommandRun['definition'];

const PROMPT = '{prompt}';
const PROMPT_FILE = '{promptFile}';

export function presetOf({ preset }: Definition): Preset | undefined {
  return preset === undefined ? undefined : PRESETS[preset];
}

/** The program and its arguments, as the definition and its preset say. */
export function commandOf(definition: Definition): { program: string; args: string[] } {
  const preset = presetOf(definition);
  const [program = '', ...args] = definition.command ?? [preset?.program ?? ''];
  const inputOptions = definition.takesInput === true ? (preset?.inputOptions ?? []) : [];
  return { program, args: [...args, ...(preset?.options ?? []), ...inputOptions] };
}

/** What is started for one attempt. */
export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the prompt is among the arguments, and not on stdin. */
  readonly hasPrompt: boolean;
}

interface Attempt {
  /** The folder that a relative program starts from. */
  readonly base: string;
  readonly folder: AttemptFolder;
  readonly user: CommandUser | null;
}

/** Fills in the prompt where arguments ask for it. */
export async function buildCommandLine(
  { definition, task }: Pick<CommandRun, 'definition' | 'task'>,
  attempt: Attempt,
): Promise<CommandLine> {
  const { program, args } = commandOf(definition);
  const path = args.includes(PROMPT_FILE) ? await writePrompt(task.input, attempt) : PROMPT_FILE;
  return {
    file: program.includes('/') ? resolve(attempt.base, program) : program,
    args: args.map((arg) => (arg === PROMPT ? task.input : arg === PROMPT_FILE ? path : arg)),
    hasPrompt: args.includes(PROMPT) || args.includes(PROMPT_FILE),
  };
}

/** Beside the working folder, where the program's own files are. */
async function writePrompt(prompt: string, { folder, user }: Attempt): Promise<string> {
  const path = join(folder.path, 'prompt.txt');
  await writeFile(path, prompt, { mode: 0o600 });
  if (user !== null) await chown(path, user.uid, user.gid);
  return path;
}
