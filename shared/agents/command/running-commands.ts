import type { AttemptProcesses } from './attempt-processes.ts';

/** The commands that one set of runners has started and that have not ended. */
export interface RunningCommands {
  /** Has its processes killed should this process exit before the returned function is called. */
  track(processes: AttemptProcesses): () => void;
}

/**
 * Programs survive the process that started them; these do not survive its exit, however sudden it is (SIGKILL apart). Every `lookMs` it
 * looks what they have started, because what has left its parent is hard to find later.
 */
export function trackCommands(lookMs: number): RunningCommands {
  const running = new Set<AttemptProcesses>();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => running.forEach((processes) => processes.look());
  const killAll = (): void => running.forEach((processes) => processes.signal('SIGKILL'));
  return {
    track: (processes) => {
      // One listener for all, and none while nothing runs: a process warns about more than a few.
      if (running.size === 0) {
        process.on('exit', killAll);
        timer = setInterval(look, lookMs).unref();
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
