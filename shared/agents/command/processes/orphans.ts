import type { z } from 'zod';
import { commandSettingsSchema } from '../../../config/index.ts';
import { removeAttemptFolders } from '../folder/attempt-folder.ts';
import { endOrphanedUsers } from '../users/attempt-users.ts';
import { commandUsers } from '../users/command-user.ts';
import { createMark, isOrphaned, MARK_VARIABLE } from './attempt-mark.ts';
import { killOrphanedCgroups, openCgroups } from './cgroup.ts';
import { listProcesses, readInitialVariable, signalProcess } from './process-table.ts';

/**
 * Ends the processes that commands of a killed worker of this fleet left on this system, and removes their cgroups and folders: a worker
 * that gets SIGKILL can do neither. Returns how many processes it ended. Never rejects.
 */
export async function endOrphanedCommands(fleetId: string, given: z.input<typeof commandSettingsSchema> = {}): Promise<number> {
  const settings = commandSettingsSchema.parse(given);
  const orphans = listProcesses().filter((entry) => {
    const mark = entry.pid === process.pid ? undefined : readInitialVariable(entry, MARK_VARIABLE);
    return mark !== undefined && isOrphaned(mark, fleetId);
  });
  const isOwnOrphan = (mark: string): boolean => isOrphaned(mark, fleetId);
  const killed = await killOrphanedCgroups(openCgroups(settings.cgroup), isOwnOrphan);
  for (const { pid } of orphans) signalProcess(pid, 'SIGKILL');
  const ended = await endOrphanedUsers(commandUsers(settings), isOwnOrphan, createMark(fleetId)).catch(() => 0);
  await removeAttemptFolders(isOwnOrphan, settings.folder).catch(() => false);
  return Math.max(orphans.length, killed) + ended;
}
