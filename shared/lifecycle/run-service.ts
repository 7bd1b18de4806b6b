import { loadConfig } from '../config/load-config.ts';
import { createLog, type Log } from '../log/create-log.ts';
import { createInstallationService } from './create-installation-service.ts';
import { endOnSignals } from './end-on-signals.ts';
import { exitOnStartFailure } from './exit-on-start-failure.ts';
import type { Parts } from './open-parts.ts';
import type { Service } from './service.ts';
import { startFleet } from './start-fleet.ts';

/** What a stop may take beyond the grace: closing connections. */
const STOP_MARGIN_MS = 5000;

/**
 * Runs one service as a process of its own until a signal ends it.
 * Exits with 0 after a drain, 130 after a second signal, 78 when the operator has to mend something, else 1.
 */
export async function runService(name: string, create: (parts: Parts) => Service): Promise<void> {
  let log: Log | undefined;
  try {
    const config = await loadConfig();
    const { LOG_LEVEL: level, SHUTDOWN_GRACE_MS: graceMs } = config.env;
    const serviceLog = createLog({ level, service: name });
    log = serviceLog;
    const starting = startFleet({ name, config, log: serviceLog, create: (parts) => [createInstallationService(parts), create(parts)] });
    // Before the start has ended: a signal in the middle of it waits for it, so that all that was opened is closed.
    endOnSignals({ log: serviceLog, stop: async () => (await starting).stop(graceMs), deadlineMs: graceMs + STOP_MARGIN_MS });
    const { port } = await starting;
    log.info({ event: 'service.ready', port }, `The service ${name} is ready on port ${port}`);
  } catch (error) {
    exitOnStartFailure(error, log);
  }
}
