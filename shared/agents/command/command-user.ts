import type { CommandSettings } from '../../config/index.ts';

/** A user of the system other than this process's. */
export interface CommandUser {
  readonly uid: number;
  readonly gid: number;
}

/** `nobody` on Linux and, unlike names, the same in every container. */
const NOBODY = 65_534;

/** Who programs run as: null for the user of this process, which is `ownUid`. */
export function commandUser({ uid, gid }: Pick<CommandSettings, 'uid' | 'gid'>, ownUid = process.getuid?.()): CommandUser | null {
  const wanted = uid ?? (ownUid === 0 ? NOBODY : 'own');
  return wanted === 'own' || wanted === ownUid ? null : { uid: wanted, gid: gid ?? wanted };
}

/** Why programs cannot be run as that user; null when they can. */
export function commandUserProblem(user: CommandUser | null, ownUid = process.getuid?.()): string | null {
  if (user === null || ownUid === 0) return null;
  return `commands.uid (MUSTER_COMMAND_UID) is ${user.uid}, and only root can start programs as another user than its own (${ownUid ?? 'none here'})`;
}
