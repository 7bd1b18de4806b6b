// A process in which suspects run loads its program for seconds, on a busy machine for minutes, and hears of nothing meanwhile. Workers that are
// killed again and again would leave more of these behind than the machine can load, so it looks between the parts whether its worker is there.

/** The largest parts of the program, each behind those that it imports. */
const PARTS = [
  () => import('#shared/config/index.ts'),
  () => import('#shared/redis/index.ts'),
  () => import('#shared/ledger/index.ts'),
  () => import('#shared/queue/index.ts'),
  () => import('#shared/agents/index.ts'),
  () => import('#shared/execution/index.ts'),
  () => import('./isolated-program.ts'),
];
const worker = Number(process.argv[2]);

// A terminal signals all processes in it, and when it closes too: the worker alone decides about its end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

for (const load of PARTS) {
  if (process.ppid !== worker) process.exit(1);
  await load();
}
