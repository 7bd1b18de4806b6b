import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TaskFailure } from '../../../errors/index.ts';
import { truncate } from '../../../text/index.ts';
import type { CommandOptions, CommandPlace, CommandRun } from '../command-run.ts';
import { WORKSPACE } from '../start/find-cwd.ts';
import { startCommand } from '../start/start-command.ts';

type Workspace = NonNullable<CommandRun['definition']['workspace']>;

/** Commits of a checkout's history. */
const DEPTH = 50;
const MAX_WORDS = 65_536;
const MAX_MESSAGE = 500;

interface Script {
  readonly text: string;
  readonly args: readonly string[];
  /** By default as long as the attempt may take. */
  readonly timeoutMs?: number;
}

/** What was there before a session's first run, in its repository. */
const BASE = 'refs/muster/base';

/** Commits need an author, where nothing else names one. */
const AFTER_CHECKOUT = `
cd ${WORKSPACE}
git update-ref ${BASE} HEAD 2>/dev/null || true
git config user.email >/dev/null || { git config user.name "$3"; git config user.email "$3@muster.invalid"; }
`;

/** A repository of another user of this machine is trusted here, because the operator names it. */
const TRUST = `
printf '[safe]\\n\\tdirectory = *\\n' > "$TMPDIR/gitconfig"
export GIT_CONFIG_GLOBAL="$TMPDIR/gitconfig"
`;

/** Puts what a workspace begins with into the working folder, with the rights and limits of the program. Errors: COMMAND_FAILED. */
export async function makeWorkspace(run: CommandRun, options: CommandOptions, place: CommandPlace): Promise<void> {
  const { workspace } = run.definition;
  if (workspace === undefined) return;
  const { isGood, stderr } = await runScript(run, options, place, scriptOf(workspace, options.directory, run.task.agent));
  run.context.signal.throwIfAborted();
  if (isGood) return;
  throw new TaskFailure(
    'COMMAND_FAILED',
    `The workspace could not be made: ${truncate(stderr.trim(), MAX_MESSAGE) || 'it ended without a word'}`,
  );
}

function scriptOf(workspace: Workspace, directory: string, agent: string): Script {
  if ('keep' in workspace) return { text: `mkdir ${WORKSPACE}`, args: [] };
  if ('path' in workspace) return { text: `mkdir ${WORKSPACE} && cp -RP "$1/." ${WORKSPACE}`, args: [resolve(directory, workspace.path)] };
  const { git, ref = '' } = workspace;
  const folder = folderOfRepository(git, directory);
  const isCommit = /^[0-9a-f]{40,64}$/.test(ref);
  const checkout = isCommit
    ? `git init -q ${WORKSPACE}; git -C ${WORKSPACE} remote add origin "$1"; git -C ${WORKSPACE} fetch -q --depth ${DEPTH} origin "$2"; git -C ${WORKSPACE} checkout -q FETCH_HEAD`
    : `git clone -q --depth ${DEPTH} \${2:+--branch "$2"} -- "$1" ${WORKSPACE}`;
  const trust = folder === null ? '' : TRUST;
  const source = folder === null ? git : pathToFileURL(folder).href;
  return { text: ['set -e', 'export GIT_TERMINAL_PROMPT=0', trust, checkout, AFTER_CHECKOUT].join('\n'), args: [source, ref, agent] };
}

/** Where a repository is on this machine; null for one that has an address. */
export function folderOfRepository(git: string, directory: string): string | null {
  const hasAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(git) || /^[^/]+@[^/:]+:/.test(git);
  return hasAddress ? null : resolve(directory, git);
}

const CHANGES_MS = 10_000;
const MAX_CHANGES = 4000;

/** Files that are new count as changed, without a change of the index that the program sees. */
const CHANGES: Script = {
  text: `
cd ${WORKSPACE} || exit 1
base=$(git rev-parse -q --verify ${BASE}) || exit 1
cp "$(git rev-parse --git-dir)/index" "$TMPDIR/index"
export GIT_INDEX_FILE="$TMPDIR/index"
git -c core.fsmonitor=false add -A -N .
git -c core.fsmonitor=false diff --no-ext-diff --no-textconv --no-color --stat=100,70,50 "$base" --
`,
  args: [],
  timeoutMs: CHANGES_MS,
};

/** What a session has changed in its checkout, as \`git diff --stat\` says it; null where that cannot be said. */
export async function readChanges(run: CommandRun, options: CommandOptions, place: CommandPlace): Promise<string | null> {
  const { workspace } = run.definition;
  if (workspace === undefined || !('git' in workspace) || run.context.signal.aborted) return null;
  const { isGood, stdout } = await runScript(run, options, place, CHANGES);
  return isGood ? truncate(stdout.trimEnd(), MAX_CHANGES) : null;
}

interface ScriptEnd {
  readonly isGood: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script in the working folder as the program itself is run. Nothing of it is left when this resolves. */
async function runScript(
  run: CommandRun,
  options: CommandOptions,
  place: CommandPlace,
  { text, args, timeoutMs }: Script,
): Promise<ScriptEnd> {
  const { env, passEnv, limits, sandbox } = run.definition;
  const own = { ...(env && { env }), ...(passEnv && { passEnv }), ...(limits && { limits }), ...(sandbox && { sandbox }) };
  const definition = { kind: 'command' as const, command: ['/bin/sh', '-c', text, 'sh', ...args], ...own };
  const command = await startCommand({ ...run, definition, task: { ...run.task, input: '' } }, options, place);
  const { signal } = run.context;
  const timer = timeoutMs === undefined ? undefined : setTimeout(command.stop, timeoutMs);
  signal.addEventListener('abort', command.stop, { once: true });
  try {
    const written = Promise.all([readBounded(command.stdout), readBounded(command.stderr)]);
    const { exitCode } = await command.ended;
    const [stdout, stderr] = await written;
    return { isGood: exitCode === 0, stdout, stderr };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', command.stop);
    await command.finish();
  }
}

async function readBounded(stream: NodeJS.ReadableStream): Promise<string> {
  const { promise, resolve: done } = Promise.withResolvers<string>();
  let words = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => (words = `${words}${piece}`.slice(0, MAX_WORDS)));
  stream.once('close', () => done(words));
  return await promise;
}
