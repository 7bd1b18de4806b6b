import { hasCode } from '../errors/index.ts';
import { assertInstallation } from '../redis/index.ts';
import { ensureFirstKey } from '../tenants/index.ts';
import { wait } from '../time/index.ts';
import { exitOnStartFailure } from './exit-on-start-failure.ts';
import type { Parts } from './open-parts.ts';
import type { Service } from './service.ts';

const TRY_AGAIN_MS = 1000;
/** Between two looks whether the data is still of this process's form: a newer release may have changed it. */
const COMPARE_MS = 5000;

export interface InstallationOptions {
  /** Whether this service makes the first admin key where there is none. */
  readonly makesFirstKey: boolean;
}

/**
 * Makes sure, as soon as Redis answers, that what is in it is of this installation's form and, with `makesFirstKey`, that there is a
 * first admin key: for services that start alone, before or after Redis and beside each other. A generated key is logged once, because
 * it cannot be read again. Its `start` throws `config.invalid` when Redis answers and holds what this process could not find; when it turns out
 * later, also while it runs, the process ends.
 */
export function createInstallationService(parts: Parts, options: InstallationOptions): Service {
  const stopping = new AbortController();
  let registering = Promise.resolve();
  return {
    name: 'installation',
    start: async () => {
      const isDone = await isRegistered(parts, options);
      registering = watch(parts, options, { isDone, signal: stopping.signal }).catch((error: unknown) =>
        exitOnStartFailure(error, parts.log),
      );
    },
    stop: async () => {
      stopping.abort();
      await registering;
    },
  };
}

async function watch(
  parts: Parts,
  options: InstallationOptions,
  { isDone, signal }: { isDone: boolean; signal: AbortSignal },
): Promise<void> {
  let isCompared = isDone;
  while (!signal.aborted) {
    await wait(isCompared ? COMPARE_MS : TRY_AGAIN_MS, signal);
    if (!signal.aborted) isCompared = await isRegistered(parts, isCompared ? { makesFirstKey: false } : options);
  }
}

/** Returns whether Redis answered. Throws `config.invalid`. */
async function isRegistered(parts: Parts, { makesFirstKey }: InstallationOptions): Promise<boolean> {
  try {
    await assertInstallation(parts);
    const secret = makesFirstKey ? await ensureFirstKey(parts) : null;
    if (secret !== null) parts.log.warn({ event: 'key.created' }, `This is the admin key; it is shown once: ${secret}`);
    return true;
  } catch (error) {
    if (hasCode(error, 'config.invalid')) throw error;
    parts.log.debug({ err: error }, 'the installation waits for Redis');
    return false;
  }
}
