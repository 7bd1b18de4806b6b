import { hasCode } from '../errors/index.ts';
import type { Environment } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import { assertInstallation, type Keys, type RedisClient } from '../redis/index.ts';
import { ensureFirstKey } from '../tenants/index.ts';
import { wait } from '../time/index.ts';
import { exitOnStartFailure } from './start-failure.ts';
import type { Service } from './service.ts';

const TRY_AGAIN_MS = 1000;
/** Between two checks whether the data still has this process's form: a newer release may have changed it. */
const COMPARE_MS = 5000;

export interface InstallationPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly config: { readonly env: Pick<Environment, 'MUSTER_ADMIN_KEY'> };
  readonly log: Log;
}

export interface InstallationOptions {
  /** Whether this service makes the first admin key where there is none. */
  readonly makesFirstKey: boolean;
}

/**
 * Checks, as soon as Redis answers, that its data has this installation's form; with `makesFirstKey` also makes the first admin key.
 * For services that start in processes of their own, before or after Redis. A generated key is logged once: it cannot be read again.
 * Its `start` throws `config.invalid` for data of another form; found later, that ends the process.
 */
export function createInstallationService(ports: InstallationPorts, options: InstallationOptions): Service {
  const stopping = new AbortController();
  let registering = Promise.resolve();
  return {
    name: 'installation',
    start: async () => {
      const isDone = await isRegistered(ports, options);
      registering = watch(ports, options, { isDone, signal: stopping.signal }).catch((error: unknown) =>
        exitOnStartFailure(error, ports.log),
      );
    },
    stop: async () => {
      stopping.abort();
      await registering;
    },
  };
}

async function watch(
  ports: InstallationPorts,
  options: InstallationOptions,
  { isDone, signal }: { isDone: boolean; signal: AbortSignal },
): Promise<void> {
  let isCompared = isDone;
  while (!signal.aborted) {
    await wait(isCompared ? COMPARE_MS : TRY_AGAIN_MS, signal);
    if (!signal.aborted) isCompared = await isRegistered(ports, isCompared ? { makesFirstKey: false } : options);
  }
}

/** Returns whether Redis answered. Throws `config.invalid`. */
async function isRegistered(ports: InstallationPorts, { makesFirstKey }: InstallationOptions): Promise<boolean> {
  try {
    await assertInstallation(ports);
    const secret = makesFirstKey ? await ensureFirstKey(ports) : null;
    if (secret !== null) ports.log.warn({ event: 'key.created' }, `This is the admin key; it is shown once: ${secret}`);
    return true;
  } catch (error) {
    if (hasCode(error, 'config.invalid')) throw error;
    ports.log.debug({ err: error }, 'the installation waits for Redis');
    return false;
  }
}
