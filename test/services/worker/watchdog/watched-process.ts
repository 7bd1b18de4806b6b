import { createLog } from '#shared/log/create-log.ts';
import { wait } from '#shared/time/wait.ts';
import { runAsAttempt } from '#shared/execution/attempt/current-attempt.ts';
import { Watchdog } from '../../../../services/worker/watchdog/watchdog.ts';

// A process with two attempts, of which one does the action of the second argument; the first is the address of Redis.

const [, , redisUrl = '', action = ''] = process.argv;
const log = createLog({ level: 'silent', service: 'test' });
const watchdog = new Watchdog({
  worker: 'watched',
  redisUrl,
  shards: 1,
  blockedMs: 500,
  maxBlockedMs: action === 'sleep' ? null : 2000,
  log,
});
await watchdog.start();

void runAsAttempt('default/INNOCENT/1', async () => {
  for (;;) await wait(5);
});
void runAsAttempt('default/GUILTY/1', async () => {
  await wait(50);
  if (action === 'exit') process.exit(7);
  // A call that nothing can interrupt, before code that can be.
  if (action === 'sleep') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
  for (;;);
});
