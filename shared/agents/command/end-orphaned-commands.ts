import { removeOrphanedFolders } from './attempt-folder.ts';
import { isOrphaned, MARK_VARIABLE } from './attempt-mark.ts';
import { signalProcess } from './attempt-processes.ts';
import { listProcesses, readInitialVariable } from './process-table.ts';

/**
 * Ends what commands of a killed worker of this system still run, and removes their folders: a worker that is killed with SIGKILL can
 * do neither. Returns how many processes it ended. Never rejects.
 */
export async function endOrphanedCommands(folder?: string): Promise<number> {
  const orphans = listProcesses().filter(({ pid }) => {
    const mark = pid === process.pid ? undefined : readInitialVariable(pid, MARK_VARIABLE);
    return mark !== undefined && isOrphaned(mark);
  });
  for (const { pid } of orphans) signalProcess(pid, 'SIGKILL');
  await removeOrphanedFolders(folder);
  return orphans.length;
}
