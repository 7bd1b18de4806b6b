import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { HeldFailure } from '../../../errors/index.ts';
import { removeAttemptFolders } from '../folder/attempt-folder.ts';
import { listOfUser } from '../processes/process-table.ts';
import { type CommandUser, type CommandUsers, isAccount } from './command-user.ts';
import { endUser } from './end-user.ts';
import { type Hold, HoldFiles } from './hold-files.ts';

/** The user that the program of one attempt runs as. */
export interface AttemptUser extends CommandUser {
  /** Whether nothing else of this machine has it meanwhile. */
  readonly isOwn: boolean;
  /** Kills what still runs as a user of the attempt's own, at most for so long. Resolves with the pids that are left. */
  end(endMs: number): Promise<number[]>;
  /** Lets another attempt have it, unless something of this one is left: then the end of this process does. */
  release(isClean: boolean): Promise<void>;
}

/** Gives an attempt with this mark its user, null being the user of this process. `parent` is where it has its folder. */
export type UserSource = (mark: string, parent: string) => Promise<AttemptUser | null>;

type Range = Extract<CommandUsers, { kind: 'each' }>;

/** Of all fleets of the machine, and only root's to write. The second is for systems without the first. */
const FOLDERS = ['/run', tmpdir()].map((parent) => join(parent, 'muster-users'));
/** What an attempt left has to be gone before another one may have its user. */
const LEFT_MS = 5000;
const ALL_TAKEN_MS = 5000;

const noteSchema = z.object({ parent: z.string() });

export function openUserSource(users: CommandUsers): UserSource {
  if (users.kind === 'own') return () => Promise.resolve(null);
  if (users.kind === 'one')
    return () => Promise.resolve({ ...users.user, isOwn: false, end: () => Promise.resolve([]), release: () => Promise.resolve() });
  const own = new AttemptUsers(users);
  return (mark, parent) => own.claim(mark, parent);
}

/** Ends what attempts with such marks left that had users of their own. Resolves with how many processes it ended. */
export async function endOrphanedUsers(users: CommandUsers, isOrphaned: (mark: string) => boolean, mark: string): Promise<number> {
  return users.kind === 'each' ? await new AttemptUsers(users).endOrphaned(isOrphaned, mark) : 0;
}

/**
 * AttemptUsers is responsible for giving each attempt a user that nothing else on this machine has, whichever process asks, and for ending what
 * an attempt of a killed process left before its user is given again. Users come in turn, so that each rests for as long as possible.
 */
class AttemptUsers {
  readonly #range: Range;
  #next: number;

  constructor(range: Range) {
    this.#range = range;
    this.#next = Math.floor(Math.random() * range.count);
  }

  /** `parent` is where the attempt has its folder. Errors: a `HeldFailure` while all are taken. */
  async claim(mark: string, parent: string): Promise<AttemptUser> {
    const holds = await HoldFiles.open(FOLDERS);
    for (let tries = 0; tries < this.#range.count; tries += 1) {
      const uid = this.#range.first + this.#next;
      this.#next = (this.#next + 1) % this.#range.count;
      if (this.#range.isDefault && isAccount(uid)) continue;
      const user = this.#userOf(uid);
      if (await take(holds, user, { mark, parent })) return this.#attemptUser(holds, user, mark);
    }
    throw new HeldFailure('THROTTLED', `All ${this.#range.count} users of commands.users are taken on this machine`, {
      hold: { gate: 'commands', what: 'users' },
      retryAfterMs: ALL_TAKEN_MS,
    });
  }

  /** Ends what attempts with such marks left. Resolves with how many processes it ended. */
  async endOrphaned(isOrphaned: (mark: string) => boolean, mark: string): Promise<number> {
    const holds = await HoldFiles.open(FOLDERS);
    let ended = 0;
    for (const { key } of (await holds.list()).filter((hold) => isOrphaned(hold.mark))) {
      const user = this.#userOf(Number(key));
      ended += listOfUser(user.uid).length;
      // Whoever takes a user ends what was left of it.
      if (await take(holds, user, { mark, parent: tmpdir() })) await holds.remove({ key, mark });
      else ended -= listOfUser(user.uid).length;
    }
    return ended;
  }

  #userOf(uid: number): CommandUser {
    return { uid, gid: this.#range.gid ?? uid };
  }

  #attemptUser(holds: HoldFiles, user: CommandUser, mark: string): AttemptUser {
    return {
      ...user,
      isOwn: true,
      end: (endMs) => endUser(user, endMs),
      release: async (isClean) => {
        if (isClean && listOfUser(user.uid).length === 0) await holds.remove({ key: String(user.uid), mark });
      },
    };
  }
}

/** Whether nothing else has it now. What a killed process left of it is gone by then. */
async function take(holds: HoldFiles, user: CommandUser, { mark, parent }: { mark: string; parent: string }): Promise<boolean> {
  const own = { key: String(user.uid), mark };
  await holds.add(own, JSON.stringify({ parent }));
  const others = (await holds.list()).filter((hold) => hold.key === own.key && hold.mark !== mark);
  const isFree = others.every(({ isLeft }) => isLeft) && (others.length > 0 || listOfUser(user.uid).length === 0);
  if (isFree && (await clean(holds, user, others))) return true;
  await holds.remove(own);
  return false;
}

async function clean(holds: HoldFiles, user: CommandUser, left: readonly Hold[]): Promise<boolean> {
  if (left.length === 0) return true;
  if ((await endUser(user, LEFT_MS)).length > 0) return false;
  for (const hold of left) {
    const note = noteSchema.safeParse(
      await holds
        .read(hold)
        .then(JSON.parse)
        .catch(() => null),
    );
    const isRemoved = note.success ? await removeAttemptFolders((mark) => mark === hold.mark, note.data.parent) : true;
    if (!isRemoved) return false;
    await holds.remove(hold);
  }
  return true;
}
