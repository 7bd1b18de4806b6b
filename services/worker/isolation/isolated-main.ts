import { handleStray } from '#shared/agents/index.ts';
import { loadConfig, withVariables } from '#shared/config/index.ts';
import { openParts } from '#shared/lifecycle/index.ts';
import { createLog } from '#shared/log/index.ts';
import { within } from '#shared/time/index.ts';
import { handleTicket } from '../handle-ticket.ts';
import { openWatchdog } from '../watchdog/open-watchdog.ts';
import { openHandling } from '../open-handling.ts';
import { isToIsolated, type FromIsolated, type ToIsolated } from './isolation-messages.ts';

// A process in which suspects run: its worker sends it tickets, and is all that it takes orders from.

const HAND_BACK_MS = 5000;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

const tell = (message: FromIsolated): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
};

// Tickets may come before all is open.
const pending: ToIsolated[] = [];
const opened = Promise.withResolvers<Extract<ToIsolated, { kind: 'open' }>>();
let obey = (message: ToIsolated): void => {
  if (message.kind === 'open') opened.resolve(message);
  else pending.push(message);
};
process.on('message', (message) => isToIsolated(message) && obey(message));
const opening = await opened.promise;

/** Hands back what runs: an exit would look like one of the tasks' doing. */
const fail = (error: Error): void => {
  log.fatal({ event: 'process.failed', err: error }, 'A process for suspects cannot go on');
  void close();
};

const config = await loadConfig(withVariables(opening.variables));
const log = createLog({ level: config.env.LOG_LEVEL, service: 'worker', destination: { write: (line) => tell({ kind: 'log', line }) } });
const parts = await openParts({ config, log, service: 'isolated', fail });
let isDraining = false;
const { handling, keeper, listen } = openHandling(parts, {
  worker: opening.worker,
  onWaiting: () => tell({ kind: 'waiting' }),
  isDraining: () => isDraining,
});
const listener = listen();
await openWatchdog(parts, opening.worker).start();
keeper.start();

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => {
    if (handleStray(error)) return;
    log.fatal({ event: 'process.failed', err: error }, 'An error that nobody caught ends this process');
    process.exit(1);
  });
}

const run = async ({ call, ticket, isolation }: Extract<ToIsolated, { kind: 'run' }>): Promise<void> => {
  try {
    const end = await handleTicket({ ...handling, isolation: () => isolation, runIsolated: refuse }, ticket);
    tell({ kind: 'ended', call, end });
  } catch (error) {
    tell({ kind: 'broke', call, message: error instanceof Error ? error.message : String(error) });
  }
};

/** Tickets that are handled here, also while their claim is under way. */
const handled = new Set<Promise<void>>();

const handle = (message: Extract<ToIsolated, { kind: 'run' }>): void => {
  const running = run(message).finally(() => handled.delete(running));
  handled.add(running);
};

/** What is claimed here is run here. */
const refuse = (): Promise<never> => Promise.reject(new Error('A suspect came to a process that runs suspects'));

const drain = (): void => {
  isDraining = true;
  keeper.drain();
};

const close = async (): Promise<never> => {
  drain();
  // A ticket may end before its result is settled, which the keeper knows of.
  const handedBack = Promise.all(handled).then(() => keeper.empty());
  await within(handedBack, HAND_BACK_MS);
  keeper.stop();
  listener.close();
  await within(parts.close(), HAND_BACK_MS);
  process.exit(0);
};

obey = (message) => {
  if (message.kind === 'run') handle(message);
  if (message.kind === 'drain') drain();
  if (message.kind === 'close') void close();
};

// Its worker is gone: nobody else would put the tickets back.
process.on('disconnect', () => void close());
if (!process.connected) void close();
for (const message of pending) obey(message);
