import { hasCode } from '../errors/index.ts';
import type { Log } from '../log/index.ts';
import { assertInstallation, installationText, type Keys, type RedisClient } from '../redis/index.ts';
import type { RecordChanges } from '../tenants/index.ts';
import { wait } from '../time/index.ts';

interface InstallationPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly log: Log;
  readonly changes: Pick<RecordChanges, 'installation'>;
}

/** Between two checks. */
const COMPARE_MS = 5000;

/**
 * Checks again and again, until `signal`, that the data still has this process's form: a newer release may take it over while this process
 * stands still. Throws `config.invalid` once it has not.
 */
export async function watchInstallation(ports: InstallationPorts, signal: AbortSignal): Promise<void> {
  for (;;) {
    await wait(COMPARE_MS, signal);
    if (signal.aborted) return;
    try {
      if ((await ports.changes.installation()) === installationText(ports.keys)) continue;
      await assertInstallation(ports);
    } catch (error) {
      if (hasCode(error, 'config.invalid')) throw error;
      ports.log.debug({ err: error }, 'the form of the data cannot be compared now');
    }
  }
}
