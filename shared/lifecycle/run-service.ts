import { describeOldNames, loadConfig, secretVariables, withdrawVariables } from '../config/index.ts';
import { createLog, type Log } from '../log/index.ts';
import { createInstallationService } from './create-installation-service.ts';
import { endOnSignals } from './end-on-signals.ts';
import { exitOnStartFailure } from './start-failure.ts';
import type { Parts } from './open-parts.ts';
import type { Service } from './service.ts';
import { startFleet } from './start-fleet.ts';

/** What a stop may take beyond the grace: closing connections. */
const STOP_MARGIN_MS = 5000;
/** Only this service needs MUSTER_ADMIN_KEY; another one would make a key of its own without it. */
const FIRST_KEY_SERVICE = 'api';

/**
 * Runs one service as a process of its own until a signal ends it.
 * Exits with 0 after a drain, 1 when it cannot go on, 130 after a second signal, 78 when the operator has to repair something, else 1.
 */
export async function runService(name: string, create: (parts: Parts) => Service): Promise<void> {
  let log: Log | undefined;
  try {
    const config = await loadConfig();
    withdrawVariables(secretVariables(config.settings.agents));
    const { LOG_LEVEL: level, SHUTDOWN_GRACE_MS: graceMs } = config.env;
    const serviceLog = createLog({ level, service: name });
    log = serviceLog;
    for (const warning of describeOldNames(config.settings)) log.warn({ event: 'config.old-name' }, warning);
    const failure = Promise.withResolvers<Error>();
    const starting = startFleet({
      name,
      config,
      log: serviceLog,
      create: (parts) => [createInstallationService(parts, { makesFirstKey: name === FIRST_KEY_SERVICE }), create(parts)],
      fail: failure.resolve,
    });
    // Before the start has ended: a signal in the middle of it waits for it, so that all that was opened is closed.
    endOnSignals({
      log: serviceLog,
      stop: async () => (await starting).stop(graceMs),
      deadlineMs: graceMs + STOP_MARGIN_MS,
      failure: failure.promise,
    });
    const { port } = await starting;
    log.info({ event: 'service.ready', port }, `The service ${name} is ready on port ${port}`);
  } catch (error) {
    exitOnStartFailure(error, log);
  }
}
