/** The process groups that one set of runners has started. */
export interface ProcessGroups {
  /** Has the group killed should this process exit before the returned function is called. */
  track(pid: number): () => void;
}

/** Process groups survive the process that started them; these do not survive its exit, however sudden it is (SIGKILL apart). */
export function createProcessGroups(): ProcessGroups {
  const running = new Set<number>();
  const killAll = (): void => running.forEach((pid) => signalProcessGroup(pid, 'SIGKILL'));
  return {
    track: (pid) => {
      // One listener for all, and none while nothing runs: a process warns about more than a few.
      if (running.size === 0) process.on('exit', killAll);
      running.add(pid);
      return () => {
        running.delete(pid);
        if (running.size === 0) process.off('exit', killAll);
      };
    },
  };
}

/** Signals every process of a group; that there is none left is fine. */
export function signalProcessGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Gone already, or another user's by now: either way there is nothing of ours to signal.
  }
}
