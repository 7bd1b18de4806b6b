import { wait } from '../../time/index.ts';
import { MARK_VARIABLE } from './attempt-mark.ts';
import { listProcesses, readInitialVariable, readProcess, readWorkingFolder, type ProcessEntry } from './process-table.ts';

/** How the processes of one attempt are known. */
export interface AttemptIdentity {
  readonly mark: string;
  /** Its first process, which leads a group and a session. */
  readonly leader: number;
  /** The attempt's own folder. */
  readonly folder: string;
}

const LOOK_MS = 10;

/**
 * AttemptProcesses is responsible for everything that one attempt has started, also what left its group or its session, so that
 * nothing of an attempt outlives it. A process belongs to it by its session, its group, the mark in its environment, its folder, its
 * parent, or because an earlier look found it. Without /proc only the group is known. What clears its environment and leaves all of these
 * between two looks is not found.
 */
export class AttemptProcesses {
  readonly #identity: AttemptIdentity;
  readonly #startedAt: number;
  /** Found by an earlier look: when each started, by its pid. */
  #known = new Map<number, number>();

  constructor(identity: AttemptIdentity) {
    this.#identity = identity;
    this.#startedAt = readProcess(identity.leader)?.startedAt ?? 0;
  }

  /** Remembers what belongs to it now. */
  look(): void {
    this.#find();
  }

  /** Signals all of them, as far as they are known at this moment. */
  signal(name: NodeJS.Signals): void {
    signalGroup(this.#identity.leader, name);
    for (const { pid, group } of this.#find()) if (group !== this.#identity.leader) signalProcess(pid, name);
  }

  /** Kills all of them until none is left, at most for `endMs`. Resolves with the pids that are left. */
  async kill(endMs: number): Promise<number[]> {
    const end = performance.now() + endMs;
    for (;;) {
      this.signal('SIGKILL');
      const left = this.#find().map(({ pid }) => pid);
      if (left.length === 0 || performance.now() >= end) return left;
      await wait(LOOK_MS);
    }
  }

  #find(): ProcessEntry[] {
    // Nothing that an attempt started is older than its first process.
    const candidates = listProcesses().filter(({ pid, startedAt }) => startedAt >= this.#startedAt && pid !== process.pid);
    const found = new Map(candidates.filter((entry) => this.#isOwn(entry)).map((entry) => [entry.pid, entry]));
    for (let before = -1; before < found.size;) {
      before = found.size;
      for (const entry of candidates) if (found.has(entry.parent)) found.set(entry.pid, entry);
    }
    this.#known = new Map([...found.values()].map(({ pid, startedAt }) => [pid, startedAt]));
    return [...found.values()];
  }

  #isOwn({ pid, group, session, startedAt }: ProcessEntry): boolean {
    const { leader, mark, folder } = this.#identity;
    if (pid === leader || group === leader || session === leader) return true;
    if (this.#known.get(pid) === startedAt) return true;
    if (readInitialVariable(pid, MARK_VARIABLE) === mark) return true;
    return readWorkingFolder(pid)?.startsWith(folder) ?? false;
  }
}

/** Signals every process of a group; that there is none left is fine. */
function signalGroup(leader: number, name: NodeJS.Signals): void {
  signalProcess(-leader, name);
}

export function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already, or another user's by now: there is nothing to signal.
  }
}
