import { wait } from '../../time/index.ts';
import { MARK_VARIABLE } from './attempt-mark.ts';
import { listProcesses, type ProcessEntry, readInitialVariable, readProcess, readWorkingFolder, signalProcess } from './process-table.ts';

/** How the processes of one attempt are known. */
interface AttemptIdentity {
  readonly mark: string;
  /** Its first process, which leads a group and a session. */
  readonly leader: number;
  /** The attempt's own folder. */
  readonly folder: string;
}

const POLL_MS = 10;

/**
 * AttemptProcesses is responsible for everything that one attempt has started, also in a group or session of its own, so that
 * nothing of an attempt outlives it. A process belongs to it by its session, its group, the mark in its environment, its folder, its
 * parent, or because an earlier poll found it. Without /proc only the group is known. A process that clears its environment and leaves all
 * of these between two polls is not found.
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

  /** Remembers what belongs to it now. */
  refresh(): void {
    this.#find();
  }

  /** Signals all of them, as far as they are known at this moment. */
  signal(name: NodeJS.Signals): void {
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
      if (left.length === 0 || performance.now() >= end) return left;
      await wait(POLL_MS);
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

/** The commands that one set of runners has started and that have not ended. */
export interface RunningCommands {
  /** Has its processes killed should this process exit before the returned function is called. */
  track(processes: AttemptProcesses): () => void;
}

/**
 * Programs survive the process that started them; these do not survive its exit, however sudden it is (SIGKILL apart). Every `pollMs`
 * it lists what they have started, because a process without its parent is hard to find later.
 */
export function trackCommands(pollMs: number): RunningCommands {
  const running = new Set<AttemptProcesses>();
  let timer: NodeJS.Timeout | undefined;
  const refreshAll = (): void => running.forEach((processes) => processes.refresh());
  const killAll = (): void => running.forEach((processes) => processes.signal('SIGKILL'));
  return {
    track: (processes) => {
      // One listener for all, and none while nothing runs: a process warns about more than a few.
      if (running.size === 0) {
        process.on('exit', killAll);
        timer = setInterval(refreshAll, pollMs).unref();
      }
      running.add(processes);
      return () => {
        running.delete(processes);
        if (running.size > 0) return;
        process.off('exit', killAll);
        clearInterval(timer);
      };
    },
  };
}
