import { join, resolve } from 'node:path';
import type { CommandOptions, CommandPlace, CommandRun } from '../command-run.ts';

/** The folder of a workspace, in the working folder and beside `in` and `out`. */
export const WORKSPACE = 'workspace';

/** The folder that a program runs in. */
export function findCwd(
  { cwd, workspace }: CommandRun['definition'],
  { directory }: Pick<CommandOptions, 'directory'>,
  { folder }: CommandPlace,
): string {
  if (cwd !== undefined) return resolve(directory, cwd);
  return workspace === undefined ? folder.work : join(folder.work, WORKSPACE);
}
