import { basename } from 'node:path';

// `codex app-server` takes options for its configuration only, and leaves out the others that stand before it without a word: with a `--sandbox` that is lost
// a program could do more than somebody has allowed. So what a thread can be begun with is said there, and the others are refused.

/** What a thread is begun with, or goes on with. */
export interface CodexThread {
  readonly sandbox?: string;
  readonly model?: string;
  readonly approvalPolicy?: string;
}

/** Options of Codex with a value, by what a thread has for them. */
const THREAD: Readonly<Record<string, keyof CodexThread>> = {
  '-s': 'sandbox',
  '--sandbox': 'sandbox',
  '-m': 'model',
  '--model': 'model',
  '-a': 'approvalPolicy',
  '--ask-for-approval': 'approvalPolicy',
};
const CONFIG: ReadonlySet<string> = new Set(['-c', '--config']);
/** Options with a value that it takes as they are. */
const TAKEN: ReadonlySet<string> = new Set([...CONFIG, '--enable', '--disable']);
const FLAGS: ReadonlySet<string> = new Set(['--strict-config']);

/** 0.171 takes "untrusted" of a thread, and ends where its configuration says it. */
const POLICY = /^\s*approval_policy\s*=\s*["']?([a-z-]+)["']?\s*$/;

interface CodexWords {
  readonly words: readonly string[];
  readonly thread: CodexThread;
  /** The first one that it would leave out, if any. */
  readonly lost: string | undefined;
}

/** The words of a command of Codex as `codex app-server` takes them. What stands before the program, as a wrapper does, stays as it is. */
export function codexServerWords(command: readonly string[]): CodexWords {
  const at = command.findIndex((word) => basename(word).includes('codex'));
  const words = command.slice(0, Math.max(0, at) + 1);
  const thread: Partial<Record<keyof CodexThread, string>> = {};
  let lost: string | undefined;
  const given = command.slice(words.length).flatMap(splitOption);
  for (let option = given.shift(); option !== undefined; option = given.shift()) {
    const value = FLAGS.has(option) ? '' : isOption(option) ? given.shift() : undefined;
    const said = value === undefined ? undefined : threadSetting(option, value);
    if (value === undefined) lost ??= option;
    else if (said !== undefined) thread[said.name] = said.value;
    else words.push(option, ...(FLAGS.has(option) ? [] : [value]));
  }
  return { words, thread, lost };
}

/** Whether it has a value that is taken. */
function isOption(word: string): boolean {
  return Object.hasOwn(THREAD, word) || TAKEN.has(word);
}

function threadSetting(option: string, value: string): { readonly name: keyof CodexThread; readonly value: string } | undefined {
  const name = THREAD[option];
  if (name !== undefined) return { name, value };
  const policy = CONFIG.has(option) ? POLICY.exec(value)?.[1] : undefined;
  return policy === undefined ? undefined : { name: 'approvalPolicy', value: policy };
}

/** `--sandbox=read-only` is two words to it. */
function splitOption(word: string): string[] {
  const [, option, value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
  return option === undefined || value === undefined ? [word] : [option, value];
}

/** Why a command of Codex cannot be asked for permissions; null where it can. */
export function codexServerProblem(command: readonly string[]): string | null {
  const { thread, lost } = codexServerWords(command);
  if (lost !== undefined) {
    const taken = [...Object.keys(THREAD), ...TAKEN, ...FLAGS].filter((option) => option.startsWith('--')).join(', ');
    return `with "permissions" Codex runs as "codex app-server", which knows no "${lost}" but ${taken}: say it by --config`;
  }
  return thread.approvalPolicy === 'never' ? 'with the approval policy "never" Codex asks for no permissions' : null;
}
