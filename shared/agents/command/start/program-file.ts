import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';

/** Why a program cannot be started, as the system would say it; null when it can. A name without a slash is searched on `paths`. */
export async function findProgramProblem(program: string, folder: string, paths: string): Promise<'ENOENT' | 'EACCES' | null> {
  const candidates = program.includes('/') ? [resolve(folder, program)] : paths.split(delimiter).map((path) => join(path, program));
  const problems = await Promise.all(candidates.map((path) => findFileProblem(path)));
  if (problems.includes(null)) return null;
  return problems.includes('EACCES') ? 'EACCES' : 'ENOENT';
}

async function findFileProblem(path: string): Promise<'ENOENT' | 'EACCES' | null> {
  try {
    if (!(await stat(path)).isFile()) return 'EACCES';
  } catch {
    return 'ENOENT';
  }
  return await access(path, constants.X_OK).then(
    () => null,
    () => 'EACCES' as const,
  );
}

/** Whether any user of this machine may run a program, and go through the folders above it. */
export async function isForEveryUser(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (found === null || (found.mode & 0o001) === 0) return false;
  return dirname(path) === path || (await isForEveryUser(dirname(path)));
}
