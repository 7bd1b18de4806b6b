import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { assertAgents } from '#shared/agents/index.ts';
import { isImage, loadConfig, secretVariables, withdrawVariables } from '#shared/config/index.ts';
import { describeStartFailure, endOnSignals } from '#shared/lifecycle/index.ts';
import { announce, writeLocalRecord } from '../fleet/announce.ts';
import { openLocalLog } from '../fleet/local-log.ts';
import { startLocalFleet } from '../fleet/start-local-fleet.ts';
import { dataFolders } from '../fleet/data-directory.ts';
import { isToGeneration, type FromGeneration } from './messages.ts';
import { Retirement } from './retirement.ts';

// The process of one generation: the whole fleet with the configuration and the agents as they are at its start.

/** Beyond the grace: closing connections. */
const STOP_MARGIN_MS = 10_000;
/** What runs in a retired fleet may take so long. */
const RETIRE_MS = 7 * 86_400_000;
/** Steps of a reload, and of a stop that the supervisor reports. */
const STEPS = ['hub.stopped', 'worker.drain-requested', 'worker.drained', 'worker.stopped', 'process.stopping', 'process.stopped'];
const OWN = fileURLToPath(new URL('../../../', import.meta.url));

const send = (message: FromGeneration): Promise<void> =>
  new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
    else resolve();
  });

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context);
    if (isAuthors(resolved.url)) void send({ kind: 'file', file: fileURLToPath(resolved.url) });
    return resolved;
  },
});

const stopping = Promise.withResolvers<void>();
const retiring = Promise.withResolvers<void>();
process.on('message', (message) => {
  if (!isToGeneration(message)) return;
  if (message.kind === 'stop') stopping.resolve();
  else retiring.resolve();
});
// The terminal sends Ctrl-C and its own end to every process; the supervisor says what follows.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

try {
  await run();
} catch (error) {
  const { message, isExpected } = describeStartFailure(error);
  await send({ kind: 'failed', message: isExpected || !(error instanceof Error) ? message : (error.stack ?? message) });
  process.exit(1);
}

async function run(): Promise<void> {
  const config = await loadConfig();
  withdrawVariables(secretVariables(config.settings.agents));
  await assertAgents(config);
  const directory = dataFolders(config.env.MUSTER_DATA_DIR);
  const log = openLocalLog({ config, directory, fileOnly: STEPS });
  const { SHUTDOWN_GRACE_MS: graceMs } = config.env;
  const retirement = new Retirement(graceMs);
  const failure = Promise.withResolvers<Error>();
  const waiting = new AbortController();
  void stopping.promise.then(() => waiting.abort());
  const starting = startLocalFleet({
    config,
    log,
    redis: { start: async () => config.env.REDIS_URL, stop: async () => undefined, abandon: () => undefined },
    onNewKey: (key) => writeLocalRecord(directory.path, { url: null, key }),
    fail: failure.resolve,
    signal: waiting.signal,
    arrange: (services) => retirement.arrange(services),
  });
  let ending: Promise<void> | undefined;
  const end = async (withinMs: number): Promise<void> => {
    const fleet = await starting;
    await (ending ??= fleet.stop(withinMs));
  };
  endOnSignals({
    log,
    stop: async () => end(graceMs),
    deadlineMs: graceMs + STOP_MARGIN_MS,
    failure: failure.promise,
    completion: stopping.promise,
    process: {
      on: (event, listener) => (String(event).startsWith('SIG') ? process : process.on(event, listener)),
      exit: (code) => process.exit(code),
    },
  });
  void stopping.promise.then(() => retirement.hurry());
  const fleet = await starting;
  void retiring.promise.then(async () => {
    retirement.begin();
    await end(RETIRE_MS);
    process.exit(0);
  });
  if (process.argv.includes('--announce') && !waiting.signal.aborted)
    await announce({ config, directory: directory.path, fleet, out: process.stdout, cwd: process.cwd(), isImage: isImage() });
  await send({ kind: 'ready' });
}

/** Whether a module is one of the author's, who may keep agents in this repository. */
function isAuthors(url: string): boolean {
  if (!url.startsWith('file:') || url.includes('/node_modules/')) return false;
  const file = fileURLToPath(url);
  return !['services/', 'shared/'].some((folder) => file.startsWith(`${OWN}${folder}`));
}
