import { ensureFirstKey } from '../tenants/ensure-first-key.ts';
import { wait } from '../time/wait.ts';
import type { Parts } from './open-parts.ts';
import type { Service } from './service.ts';

const TRY_AGAIN_MS = 1000;

/**
 * Makes sure that the installation has its first admin key, as soon as Redis answers: for services that start alone, before
 * or after Redis and beside each other. A generated key is logged once, because nobody can read it again.
 */
export function createAdminKeyService(parts: Parts): Service {
  const stopping = new AbortController();
  let registering = Promise.resolve();
  return {
    name: 'admin-key',
    start: () => {
      registering = register(parts, stopping.signal);
      return Promise.resolve();
    },
    stop: async () => {
      stopping.abort();
      await registering;
    },
  };
}

async function register(parts: Parts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const secret = await ensureFirstKey(parts);
      if (secret !== null) parts.log.warn({ event: 'key.created' }, `This is the admin key; it is shown once: ${secret}`);
      return;
    } catch (error) {
      parts.log.debug({ err: error }, 'the admin key waits for Redis');
      await wait(TRY_AGAIN_MS, signal);
    }
  }
}
