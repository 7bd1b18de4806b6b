// npm ends at once on SIGTERM and hands it to nobody: `npx muster daemon` would end, and the daemon go on without anybody who can stop it.

const EVERY_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Ends a command that npm started, as SIGTERM does, when npm is gone and no signal has reached the command itself. For commands that listen to signals. */
export function endWithNpm(env = process.env) {
  if (!['exec', 'run-script'].includes(env.npm_command ?? '')) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, EVERY_MS);
  timer.unref();
  for (const signal of SIGNALS) {
    process.once(signal, () => {
      clearInterval(timer);
      // Without a listener of the command's own, which is still starting, the signal would be lost.
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    });
  }
}
