import { readFileSync } from 'node:fs';
import type { CommandSettings } from '../../../config/index.ts';

/** A user of the system other than this process's. */
export interface CommandUser {
  readonly uid: number;
  readonly gid: number;
}

/** Who programs run as: the user of this process, one other user, or for each attempt a user of its own. */
export type CommandUsers =
  | { readonly kind: 'own' }
  | { readonly kind: 'one'; readonly user: CommandUser }
  | {
      readonly kind: 'each';
      readonly first: number;
      readonly count: number;
      readonly gid: number | undefined;
      readonly isDefault: boolean;
    };

type UserSettings = Pick<CommandSettings, 'uid' | 'gid' | 'users'>;

interface System {
  readonly ownUid: number | undefined;
  readonly platform: NodeJS.Platform;
  /** `/proc/self/uid_map`: the users that there are in this container. */
  readonly uidMap: string;
}

/** `nobody` on Linux and, unlike names, the same in every container. */
const NOBODY = 65_534;

/**
 * Numbers that no distribution gives to anybody, by systemd's table of users: above those of people and of its own services and below those of
 * containers, and in containers with 65,536 users between those of people and its own services.
 */
const DEFAULT_RANGES = [
  { first: 66_000, count: 32_000 },
  { first: 60_706, count: 478 },
] as const;

/** Who the programs of these settings run as on this machine. */
export function commandUsers({ uid, gid, users }: UserSettings, system: Partial<System> = {}): CommandUsers {
  const { ownUid, platform, uidMap } = { ...readSystem(), ...system };
  if (uid !== undefined) return uid === 'own' || uid === ownUid ? { kind: 'own' } : { kind: 'one', user: { uid, gid: gid ?? uid } };
  if (users !== undefined) return { kind: 'each', ...users, gid, isDefault: false };
  return ownUid === 0 ? defaultsOfRoot(gid, platform === 'linux' ? uidMap : '') : { kind: 'own' };
}

function defaultsOfRoot(gid: number | undefined, uidMap: string): CommandUsers {
  const range = DEFAULT_RANGES.find((each) => isMapped(each, uidMap));
  return range === undefined
    ? { kind: 'one', user: { uid: NOBODY, gid: gid ?? NOBODY } }
    : { kind: 'each', ...range, gid, isDefault: true };
}

/** Why programs cannot be run as these users; null when they can. */
export function commandUserProblem(users: CommandUsers, system: Partial<System> = {}): string | null {
  const { ownUid, platform, uidMap } = { ...readSystem(), ...system };
  if (users.kind === 'own') return null;
  const named = users.kind === 'one' ? `commands.uid (MUSTER_COMMAND_UID) is ${users.user.uid}` : 'commands.users names users';
  if (ownUid !== 0) return `${named}, and only root can start programs as another user than its own (${ownUid ?? 'none here'})`;
  if (users.kind === 'one') return null;
  if (platform !== 'linux') return `${named}, which attempts can have on Linux only (this is ${platform})`;
  return isMapped(users, uidMap)
    ? null
    : `${named} from ${users.first} to ${users.first + users.count - 1}, and not all of them exist in this container`;
}

/** Whether attempts of several tenants would run as one user at the same time. */
export function isUserShared(users: CommandUsers): boolean {
  return users.kind !== 'each';
}

function readSystem(): System {
  return { ownUid: process.getuid?.(), platform: process.platform, uidMap: readText('/proc/self/uid_map') };
}

/** Lines of the map: first number inside, first number outside, how many. */
function isMapped({ first, count }: { first: number; count: number }, uidMap: string): boolean {
  return uidMap.split('\n').some((line) => {
    const [inside = 0, , length = 0] = line.trim().split(/\s+/).map(Number);
    return first >= inside && first + count <= inside + length;
  });
}

/** Whether an account of this machine has the number. */
export function isAccount(uid: number): boolean {
  return readText('/etc/passwd')
    .split('\n')
    .some((line) => line.split(':')[2] === String(uid));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
