import { constants, createWriteStream } from 'node:fs';
import { copyFile, link, lstat, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { CliProblem, EXIT } from '../../cli-problem.ts';

interface RemoteFile {
  name: string;
  download: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Saves files into a folder and returns their paths. Replaces none that is there, and leaves none when one of them does not come in full, or
 * when a signal interrupts it: the same call can be repeated. Errors: a `CliProblem` that says what to do.
 */
export async function saveFiles(files: readonly RemoteFile[], folder: string): Promise<string[]> {
  const interruption = new AbortController();
  // Each time: npx passes on a Ctrl-C that the terminal has sent already, and the second one would end the cleanup.
  const interrupt = (): void => interruption.abort();
  for (const name of SIGNALS) process.on(name, interrupt);
  try {
    return await saveUnless(interruption.signal, files, folder);
  } finally {
    for (const name of SIGNALS) process.off(name, interrupt);
  }
}

async function saveUnless(interrupted: AbortSignal, files: readonly RemoteFile[], folder: string): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  // The server says the names: they must not lead out of the folder.
  const targets = files.map(({ name }) => join(folder, basename(name)));
  await assertFree(targets);
  // Beside the targets, because a link cannot lead to another file system.
  const parts = await mkdtemp(join(folder, '.muster-'));
  try {
    for (const [at, file] of files.entries()) await download(file, join(parts, String(at)), interrupted);
    for (const [at, target] of targets.entries()) await publish(join(parts, String(at)), target);
  } finally {
    await rm(parts, { recursive: true, force: true });
  }
  return targets;
}

async function assertFree(targets: readonly string[]): Promise<void> {
  const taken: string[] = [];
  for (const target of targets) if (await exists(target)) taken.push(target);
  if (taken.length > 0) throw takenProblem(taken);
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function takenProblem(taken: readonly string[]): CliProblem {
  return new CliProblem('Files that are there already are kept. Move them away, or name another folder with --save:', {
    exitCode: EXIT.usage,
    code: 'file.exists',
    lines: taken.map((path) => `  ${path}`),
  });
}

async function download(file: RemoteFile, part: string, interrupted: AbortSignal): Promise<void> {
  try {
    await pipeline(await file.download(interrupted), createWriteStream(part), { signal: interrupted });
  } catch (error) {
    if (interrupted.aborted) throw interruptedProblem();
    // A refusal of the server says itself what it is.
    if (error instanceof CliProblem) throw error;
    throw new CliProblem(`${file.name} could not be saved: ${reasonOf(error)}. Nothing was saved, so that the command can be repeated.`, {
      exitCode: EXIT.failed,
      code: 'file.incomplete',
      cause: error,
    });
  }
}

function interruptedProblem(): CliProblem {
  return new CliProblem('Interrupted. Nothing was saved, so that the command can be repeated.', {
    exitCode: EXIT.interrupted,
    code: 'file.interrupted',
  });
}

/** `fetch` says only that it was terminated; its cause says by what. */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return inner instanceof Error ? inner.message : String(inner);
}

/** Gives a complete file its name, unless another has it by now. */
async function publish(part: string, target: string): Promise<void> {
  try {
    // Some file systems of memory cards have no links.
    await link(part, target).catch(() => copyFile(part, target, constants.COPYFILE_EXCL));
  } catch (error) {
    throw hasExistCode(error) ? takenProblem([target]) : error;
  }
}

function hasExistCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
