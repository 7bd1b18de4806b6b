import { hasCode } from '../errors/muster-error.ts';
import { assertInstallation } from '../redis/assert-installation.ts';
import { ensureFirstKey } from '../tenants/ensure-first-key.ts';
import { wait } from '../time/wait.ts';
import { exitOnStartFailure } from './exit-on-start-failure.ts';
import type { Parts } from './open-parts.ts';
import type { Service } from './service.ts';

const TRY_AGAIN_MS = 1000;

/**
 * Makes sure that what is in Redis is of this installation's form and that it has its first admin key, as soon as Redis answers: for
 * services that start alone, before or after Redis and beside each other. A generated key is logged once, because nobody can read it
 * again. Its `start` throws `config.invalid` when Redis answers and holds what this process could not find; when it turns out later,
 * the process ends.
 */
export function createInstallationService(parts: Parts): Service {
  const stopping = new AbortController();
  let registering = Promise.resolve();
  return {
    name: 'installation',
    start: async () => {
      if (await isRegistered(parts)) return;
      registering = register(parts, stopping.signal).catch((error: unknown) => exitOnStartFailure(error, parts.log));
    },
    stop: async () => {
      stopping.abort();
      await registering;
    },
  };
}

async function register(parts: Parts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await wait(TRY_AGAIN_MS, signal);
    if (await isRegistered(parts)) return;
  }
}

/** Returns whether Redis answered. Throws `config.invalid`. */
async function isRegistered(parts: Parts): Promise<boolean> {
  try {
    await assertInstallation(parts);
    const secret = await ensureFirstKey(parts);
    if (secret !== null) parts.log.warn({ event: 'key.created' }, `This is the admin key; it is shown once: ${secret}`);
    return true;
  } catch (error) {
    if (hasCode(error, 'config.invalid')) throw error;
    parts.log.debug({ err: error }, 'the installation waits for Redis');
    return false;
  }
}
