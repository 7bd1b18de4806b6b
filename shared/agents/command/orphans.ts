import { MARK_VARIABLE, isOrphaned } from './attempt-mark.ts';
import { removeOrphanedFolders } from './attempt-folder.ts';
import { listProcesses, readInitialVariable, signalProcess } from './process-table.ts';

/**
 * Ends the processes that commands of a killed worker of this fleet left on this system, and removes their folders: a worker that gets
 * SIGKILL can do neither. Returns how many processes it ended. Never rejects.
 */
export async function endOrphanedCommands(fleetId: string, folder?: string): Promise<number> {
  const orphans = listProcesses().filter(({ pid }) => {
    const mark = pid === process.pid ? undefined : readInitialVariable(pid, MARK_VARIABLE);
    return mark !== undefined && isOrphaned(mark, fleetId);
  });
  for (const { pid } of orphans) signalProcess(pid, 'SIGKILL');
  await removeOrphanedFolders((mark) => isOrphaned(mark, fleetId), folder);
  return orphans.length;
}
