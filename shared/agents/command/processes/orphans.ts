import type { CommandSettings } from '../../../config/index.ts';
import { isOrphaned, MARK_VARIABLE } from './attempt-mark.ts';
import { removeOrphanedFolders } from '../attempt-folder.ts';
import { killOrphanedCgroups, openCgroups } from './cgroup.ts';
import { listProcesses, readInitialVariable, signalProcess } from './process-table.ts';

/** Where attempts have their folders and cgroups, when not at the usual places. */
type Places = Partial<Pick<CommandSettings, 'folder' | 'cgroup'>>;

/**
 * Ends the processes that commands of a killed worker of this fleet left on this system, and removes their cgroups and folders: a worker
 * that gets SIGKILL can do neither. Returns how many processes it ended. Never rejects.
 */
export async function endOrphanedCommands(fleetId: string, { folder, cgroup = 'auto' }: Places = {}): Promise<number> {
  const orphans = listProcesses().filter((entry) => {
    const mark = entry.pid === process.pid ? undefined : readInitialVariable(entry, MARK_VARIABLE);
    return mark !== undefined && isOrphaned(mark, fleetId);
  });
  const isOwnOrphan = (mark: string): boolean => isOrphaned(mark, fleetId);
  const killed = await killOrphanedCgroups(openCgroups(cgroup), isOwnOrphan);
  for (const { pid } of orphans) signalProcess(pid, 'SIGKILL');
  await removeOrphanedFolders(isOwnOrphan, folder);
  return Math.max(orphans.length, killed);
}
