import { type Config, isImage, loadConfig, secretVariables, withdrawVariables } from '#shared/config/index.ts';
import { endOnSignals, exitOnStartFailure } from '#shared/lifecycle/index.ts';
import type { Log } from '#shared/log/index.ts';
import { announce, writeLocalRecord } from './fleet/announce.ts';
import { assertAgents } from '#shared/agents/index.ts';
import { createLocalRedis } from './redis/local-redis.ts';
import { openDataDirectory, type DataDirectory } from './fleet/data-directory.ts';
import { LOG_FILES, openLocalLog } from './fleet/local-log.ts';
import { startLocalFleet } from './fleet/start-local-fleet.ts';

/** Time for a stop beyond the grace: closing connections, and Redis's last write. */
const STOP_MARGIN_MS = 10_000;

let log: Log | undefined;
try {
  const config = await loadConfig();
  withdrawVariables(secretVariables(config.settings.agents));
  await assertAgents(config);
  const directory = openDataDirectory(config.env.MUSTER_DATA_DIR);
  // However this process ends, short of a kill: the lock of a killed one is taken over by the next.
  process.on('exit', () => directory.release());
  log = openLocalLog({ config, directory });
  for (const warning of config.warnings) log.warn({ event: 'config.old-name' }, warning);
  for (const mistyped of config.mistyped) log.warn({ event: 'config.mistyped' }, mistyped);
  await run(config, directory, log);
} catch (error) {
  exitOnStartFailure(error, log);
}

async function run(config: Config, directory: DataDirectory, fleetLog: Log): Promise<void> {
  const givenUrl = config.readVariable('REDIS_URL');
  const redis = createLocalRedis({ givenUrl, path: config.readVariable('PATH') ?? '', directory, log: fleetLog, rotation: LOG_FILES });
  const failure = Promise.withResolvers<Error>();
  const stopping = new AbortController();
  const starting = startLocalFleet({
    config,
    log: fleetLog,
    redis,
    onNewKey: (key) => writeLocalRecord(directory.path, { url: null, key }),
    fail: failure.resolve,
    signal: stopping.signal,
  });
  const { SHUTDOWN_GRACE_MS: graceMs } = config.env;
  // Before the start has ended: Ctrl-C in the middle of it must not leave a Redis behind.
  endOnSignals({
    log: fleetLog,
    stop: async () => {
      stopping.abort();
      await (await starting).stop(graceMs);
    },
    abandon: () => redis.abandon(),
    deadlineMs: graceMs + STOP_MARGIN_MS,
    failure: failure.promise,
  });
  const fleet = await starting;
  if (!stopping.signal.aborted)
    await announce({ config, directory: directory.path, fleet, out: process.stdout, cwd: process.cwd(), isImage: isImage() });
}
