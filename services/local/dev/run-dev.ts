import { loadEnvironment } from '#shared/config/index.ts';
import { endOnSignals, exitOnStartFailure } from '#shared/lifecycle/index.ts';
import type { Log } from '#shared/log/index.ts';
import { openDataDirectory } from '../fleet/data-directory.ts';
import { LOG_FILES, openLocalLog } from '../fleet/local-log.ts';
import { createLocalRedis } from '../redis/local-redis.ts';
import { DevFleet } from './dev-fleet.ts';
import { forkGeneration } from './generation.ts';

/** Beyond the grace: closing connections in each generation, and Redis's last write. */
const STOP_MARGIN_MS = 15_000;
const REDIS_GRACE_MS = 4000;

/**
 * Runs a local fleet for authors of agents: this process has the data directory, Redis and the port, and a process of its own runs each
 * version of the configuration and its agents. Ends the process as `npm start` does.
 */
export async function runDev(): Promise<void> {
  let log: Log | undefined;
  try {
    const { env, readVariable } = loadEnvironment();
    const directory = openDataDirectory(env.MUSTER_DATA_DIR);
    process.on('exit', () => directory.release());
    log = openLocalLog({ config: { env, readVariable }, directory });
    const redis = createLocalRedis({
      givenUrl: readVariable('REDIS_URL'),
      path: readVariable('PATH') ?? '',
      directory,
      log,
      rotation: LOG_FILES,
    });
    const url = await redis.start();
    const fleet = new DevFleet({
      fork: (options) => forkGeneration({ variables: { REDIS_URL: url, REDIS_URL_FILE: '', MUSTER_DEV: 'true' }, ...options }),
      print: (text) => void process.stdout.write(`${text}\n`),
    });
    endOnSignals({
      log,
      stop: async () => {
        await fleet.stop();
        await redis.stop(REDIS_GRACE_MS);
      },
      abandon: () => {
        fleet.kill();
        redis.abandon();
      },
      deadlineMs: env.SHUTDOWN_GRACE_MS + STOP_MARGIN_MS,
    });
    fleet.start();
  } catch (error) {
    exitOnStartFailure(error, log);
  }
}
