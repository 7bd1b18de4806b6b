import { assertAgents, handleStray } from '#shared/agents/index.ts';
import { loadConfig, withVariables } from '#shared/config/index.ts';
import { openParts, openExecutor } from '#shared/lifecycle/index.ts';
import { createLog, isTraced, openTraces } from '#shared/log/index.ts';
import { within } from '#shared/time/index.ts';
import { executeTicket } from '#shared/execution/index.ts';
import { openWatchdog } from '../watchdog/watchdog.ts';
import { isToIsolated, type FromIsolated, type ToIsolated } from './isolation-messages.ts';

// A process in which suspects run. It takes tickets from its worker only.

const HAND_BACK_MS = 5000;

const send = (message: FromIsolated): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
};

// Tickets may come before all is open.
const pending: ToIsolated[] = [];
const opened = Promise.withResolvers<Extract<ToIsolated, { kind: 'open' }>>();
let receive = (message: ToIsolated): void => {
  if (message.kind === 'open') opened.resolve(message);
  else pending.push(message);
};
process.on('message', (message) => isToIsolated(message) && receive(message));
const opening = await opened.promise;

/** Hands back what runs: an exit would look as if a task had caused it. */
const fail = (error: Error): void => {
  log.fatal({ event: 'process.failed', err: error }, 'A process for suspects cannot continue');
  void close();
};

const config = await loadConfig(withVariables(opening.variables));
const log = createLog({
  level: config.env.LOG_LEVEL,
  service: 'worker',
  destination: { write: (line) => send({ kind: 'log', line }) },
  hasSpans: isTraced(config.env),
});
const traces = await openTraces({ env: config.env, service: 'worker', log });
const parts = await openParts({ config, log, service: 'isolated', fail, traces });
let isDraining = false;
const { executor, keeper, listen } = openExecutor(parts, {
  worker: opening.worker,
  onWaiting: () => send({ kind: 'waiting' }),
  isDraining: () => isDraining,
});
let listener: ReturnType<typeof listen> | undefined;
// Suspects come together: none waits for the files of its agent to be loaded. The worker has checked them; what fails here fails its tasks.
await assertAgents(config).catch((error: unknown) => log.debug({ err: error }, 'not all agents could be loaded'));
await openWatchdog(parts, opening.worker).start();
keeper.start();

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    if (handleStray(error)) return;
    log.fatal({ event: 'process.failed', err: error }, 'An unhandled error ends this process');
    process.exit(1);
  });
}

const run = async ({ call, ticket, how, isolation }: Extract<ToIsolated, { kind: 'run' }>): Promise<void> => {
  try {
    const result = await executeTicket({ ...executor, isolation: () => isolation, runIsolated: refuse }, ticket, how);
    send({ kind: 'ended', call, result });
  } catch (error) {
    send({ kind: 'broke', call, message: error instanceof Error ? error.message : String(error) });
  }
};

/** Tickets that are executed here, also while their claim is under way. */
const executing = new Set<Promise<void>>();

const execute = (message: Extract<ToIsolated, { kind: 'run' }>): void => {
  // Not before: a process that is kept ready, as one is beside each worker, needs no connection for it.
  listener ??= listen();
  const running = run(message).finally(() => executing.delete(running));
  executing.add(running);
};

/** A process for suspects runs every task that it claims. */
const refuse = (): Promise<never> => Promise.reject(new Error('A suspect came to a process that runs suspects'));

const drain = (): void => {
  isDraining = true;
  keeper.drain();
};

const close = async (): Promise<never> => {
  drain();
  // A ticket may end before its result is settled, which the keeper knows of.
  const handedBack = Promise.all(executing).then(() => keeper.empty());
  await within(handedBack, HAND_BACK_MS);
  keeper.stop();
  listener?.close();
  await within(parts.close(), HAND_BACK_MS);
  await traces?.close();
  process.exit(0);
};

receive = (message) => {
  if (message.kind === 'run') execute(message);
  if (message.kind === 'hand-over') keeper.handOver();
  if (message.kind === 'drain') drain();
  if (message.kind === 'close') void close();
};

// Its worker is gone: no other process would return the tickets.
process.on('disconnect', () => void close());
if (!process.connected) void close();
send({ kind: 'ready' });
for (const message of pending) receive(message);
