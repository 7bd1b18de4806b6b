import type { Environment } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { type ApiKey, createKey, findKey, listKeys } from './key-store.ts';
import { DEFAULT_TENANT } from './tenant.ts';

/** After this, a process that died before it made the key blocks no other. */
const MAKING_MS = 5000;

interface FirstKeyPorts {
  redis: RedisClient;
  keys: Keys;
  config: { env: Pick<Environment, 'MUSTER_ADMIN_KEY'> };
  log: Pick<Log, 'warn'>;
}

/** Random characters: too many to guess through HTTP. */
const STRONG_LENGTH = 16;

/**
 * Makes sure that tenant `default` has an admin key: `MUSTER_ADMIN_KEY`, else, when it has no key at all, a new one. Returns the secret
 * only when it was made just now, because it cannot be read again.
 */
export async function ensureFirstKey(parts: FirstKeyPorts): Promise<string | null> {
  const chosen = parts.config.env.MUSTER_ADMIN_KEY;
  if (chosen !== undefined) {
    if (!(await findKey(parts, chosen))) await addChosen(parts, chosen);
    return null;
  }
  if ((await adminKeys(parts)).length > 0) return null;
  // Of several processes that start at the same time, one makes it.
  if ((await parts.redis.set(parts.keys.fleet.firstApiKey, '1', 'PX', MAKING_MS, 'NX')) === null) return null;
  const { secret } = await createKey(parts, { tenant: DEFAULT_TENANT, name: 'first key', scopes: ['admin'] });
  return secret;
}

/** An operator who chooses another key may think that the previous key is no longer valid. */
async function addChosen(parts: FirstKeyPorts, secret: string): Promise<void> {
  const before = (await adminKeys(parts)).map(({ id }) => id);
  await createKey(parts, { tenant: DEFAULT_TENANT, name: 'MUSTER_ADMIN_KEY', scopes: ['admin'], secret });
  if (secret.length < STRONG_LENGTH) {
    parts.log.warn(
      { event: 'key.short' },
      `MUSTER_ADMIN_KEY is shorter than ${STRONG_LENGTH} characters: enough on a machine of your own, too easy to guess where others reach it`,
    );
  }
  if (before.length === 0) return;
  parts.log.warn(
    { event: 'key.added', keys: before },
    `MUSTER_ADMIN_KEY was added; earlier admin keys stay valid: ${before.join(', ')}. To revoke one: DELETE /v1/tenants/${DEFAULT_TENANT}/keys/<id>`,
  );
}

async function adminKeys(parts: FirstKeyPorts): Promise<ApiKey[]> {
  return (await listKeys(parts, DEFAULT_TENANT)).filter(({ scopes }) => scopes.includes('admin'));
}
