// On SIGTERM npm ends at once, or hands it to a shell that does: `npx muster daemon` would end, and the daemon go on without anybody who can stop it.
// `muster` on an older Node is such a parent too: it runs itself on the newer one, and kill -9 of it reaches nothing else.

const EVERY_MS = 500;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** `npm_command` of what runs a program until it ends: npx, `npm start`, and `npm run` as npm 11 and older ones call it. */
const COMMANDS = new Set(['exec', 'start', 'run', 'run-script']);

/** Ends a command that npm, or `muster` on an older Node, started, as SIGTERM does, when that one is gone and no signal has reached the command itself. For commands that listen to signals. */
export function endWithNpm(env = process.env) {
  if (!COMMANDS.has(env.npm_command ?? '') && env.MUSTER_CLI_NODE !== 'tried') return;
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
