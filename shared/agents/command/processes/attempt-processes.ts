import { wait } from '../../../time/index.ts';
import { MARK_VARIABLE } from './attempt-mark.ts';
import type { AttemptCgroup, AttemptUse } from './cgroup.ts';
import {
  listProcesses,
  type ProcessEntry,
  readInitialVariable,
  readMemory,
  readProcess,
  readUser,
  readWorkingFolder,
  signalProcess,
} from './process-table.ts';

/** How the processes of one attempt are known. */
interface AttemptIdentity {
  readonly mark: string;
  /** Its first process, which leads a group and a session. */
  readonly leader: number;
  /** The attempt's own folder. */
  readonly folder: string;
  /** Its cgroup, where it has one. */
  readonly cgroup?: AttemptCgroup | undefined;
  /** Its user, where nothing else has that. */
  readonly user?: { readonly uid: number; readonly isOwn: boolean } | null;
}

const POLL_MS = 10;

/**
 * AttemptProcesses is responsible for everything that one attempt has started, also in a group or session of its own, so that
 * nothing of an attempt outlives it. A process belongs to it by its cgroup or by a user of its own, which nothing leaves by itself; without
 * one, by its session, its group, the mark in its environment, its folder, its parent, or because an earlier poll found it. Then a process that clears its
 * environment and leaves all of these between two polls is not found.
 */
export class AttemptProcesses {
  readonly #identity: AttemptIdentity;
  readonly #startedAt: number;
  /** Found by an earlier poll: when each started, by its pid. */
  #known = new Map<number, number>();

  constructor(identity: AttemptIdentity) {
    this.#identity = identity;
    this.#startedAt = readProcess(identity.leader)?.startedAt ?? 0;
  }

  /** Remembers which of these belong to it, and returns what they use. */
  refresh(table: readonly ProcessEntry[]): AttemptUse {
    const found = this.#find(table);
    const sum = (read: (entry: ProcessEntry) => number): number => found.reduce((total, entry) => total + read(entry), 0);
    const counted = {
      memoryBytes: sum(({ pid }) => readMemory(pid)),
      tasks: sum(({ threads }) => threads),
      cpuMs: sum(({ cpuMs }) => cpuMs),
    };
    return { ...counted, ...this.#identity.cgroup?.readUse() };
  }

  /** Signals all of them, as far as they are known at this moment. */
  signal(name: NodeJS.Signals): void {
    if (name === 'SIGKILL') this.#identity.cgroup?.kill();
    // The whole group at once.
    signalProcess(-this.#identity.leader, name);
    for (const { pid, group } of this.#find()) if (group !== this.#identity.leader) signalProcess(pid, name);
  }

  /** Kills all of them until none is left, at most for `endMs`. Resolves with the pids that are left. */
  async kill(endMs: number): Promise<number[]> {
    const end = performance.now() + endMs;
    for (;;) {
      this.signal('SIGKILL');
      const left = this.#find().map(({ pid }) => pid);
      // A process that is gone may stay in its cgroup for a moment.
      const isRemoved = left.length === 0 && (this.#identity.cgroup?.remove() ?? true);
      if (isRemoved || performance.now() >= end) return left;
      await wait(POLL_MS);
    }
  }

  #find(table: readonly ProcessEntry[] = listProcesses()): ProcessEntry[] {
    // Nothing that an attempt started is older than its first process.
    const candidates = table.filter(({ pid, startedAt }) => startedAt >= this.#startedAt && pid !== process.pid);
    const inCgroup = new Set(this.#identity.cgroup?.listPids());
    const found = new Map(candidates.filter((entry) => inCgroup.has(entry.pid) || this.#isOwn(entry)).map((entry) => [entry.pid, entry]));
    for (let before = -1; before < found.size;) {
      before = found.size;
      for (const entry of candidates) if (found.has(entry.parent)) found.set(entry.pid, entry);
    }
    this.#known = new Map([...found.values()].map(({ pid, startedAt }) => [pid, startedAt]));
    return [...found.values()];
  }

  #isOwn(entry: ProcessEntry): boolean {
    const { pid, group, session, startedAt } = entry;
    const { leader, mark, folder, user } = this.#identity;
    if (pid === leader || group === leader || session === leader) return true;
    if (user?.isOwn) return readUser(pid) === user.uid;
    if (this.#known.get(pid) === startedAt) return true;
    if (readInitialVariable(entry, MARK_VARIABLE) === mark) return true;
    return readWorkingFolder(entry).startsWith(folder);
  }
}

/** The commands that one set of runners has started and that have not ended. */
export interface RunningCommands {
  /**
   * Has its processes killed should this process exit before the returned function is called, and calls `onUse` with what they use at each
   * poll.
   */
  track(processes: AttemptProcesses, onUse?: (use: AttemptUse) => void): () => void;
}

/**
 * Programs survive the process that started them; these do not survive its exit, however sudden it is (SIGKILL apart). Every `pollMs`
 * it lists what they have started, because a process without its parent is hard to find later.
 */
export function trackCommands(pollMs: number): RunningCommands {
  const running = new Map<AttemptProcesses, ((use: AttemptUse) => void) | undefined>();
  let timer: NodeJS.Timeout | undefined;
  const refreshAll = (): void => {
    const table = listProcesses();
    for (const [processes, onUse] of running) {
      const use = processes.refresh(table);
      onUse?.(use);
    }
  };
  const killAll = (): void => running.forEach((_onUse, processes) => processes.signal('SIGKILL'));
  return {
    track: (processes, onUse) => {
      // One listener for all, and none while nothing runs: a process warns about more than a few.
      if (running.size === 0) {
        process.on('exit', killAll);
        timer = setInterval(refreshAll, pollMs).unref();
      }
      running.set(processes, onUse);
      return () => {
        running.delete(processes);
        if (running.size > 0) return;
        process.off('exit', killAll);
        clearInterval(timer);
      };
    },
  };
}
