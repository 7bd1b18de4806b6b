import { fileURLToPath } from 'node:url';
import { hasCode } from '../../errors/index.ts';
import { type Keys, loadScripts, type RedisClient, runScript, scanHash, type Script } from '../../redis/index.ts';
import type { Log } from '../../log/index.ts';
import { DEFAULT_TENANT } from '../tenant.ts';
import { keyIdOf, type Seal } from './seal.ts';
import { type RecordPlace, sealAgain, secretsIn } from './sealed-records.ts';

interface SecretPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

interface StoredRecord {
  readonly place: RecordPlace;
  /** Its key, and its field there; null for a record that is all of it. */
  readonly key: string;
  readonly field: string | null;
  readonly stored: string;
}

const SCRIPTS = loadScripts(fileURLToPath(new URL('../scripts', import.meta.url)));

/** All records of a tenant that have secrets. */
async function* recordsOf({ redis, keys }: SecretPorts, tenant: string): AsyncGenerator<StoredRecord> {
  const own = keys.tenant(tenant);
  for (const kind of ['agents', 'hooks'] as const) {
    for await (const page of scanHash(redis, own[kind])) {
      for (const [field, stored] of page) yield { place: { kind, tenant, id: field }, key: own[kind], field, stored };
    }
  }
  const stored = await redis.get(own.callbackSecret);
  if (stored !== null) yield { place: { kind: 'callbacks', tenant, id: '' }, key: own.callbackSecret, field: null, stored };
}

/** How many secrets of a tenant are sealed with which key, by its id; under null those in clear. Reads `max` records at most. */
export async function countSecrets(ports: SecretPorts, tenant: string, max: number): Promise<Map<string | null, number>> {
  const counts = new Map<string | null, number>();
  let read = 0;
  for await (const record of recordsOf(ports, tenant)) {
    for (const secret of readSecrets(record)) counts.set(keyIdOf(secret), (counts.get(keyIdOf(secret)) ?? 0) + 1);
    if ((read += 1) >= max) break;
  }
  return counts;
}

/**
 * Seals with the key of now what secrets of a tenant are in clear, or sealed with the key before. What somebody changes meanwhile is sealed by
 * that. Returns how many records.
 */
export async function sealSecrets(ports: SecretPorts & { readonly seal: Seal }, tenant: string): Promise<number> {
  const { redis, seal } = ports;
  if (seal.keyId === null) return 0;
  let sealed = 0;
  for await (const record of recordsOf(ports, tenant)) {
    if (readSecrets(record).every((secret) => keyIdOf(secret) === seal.keyId)) continue;
    const text = sealOne(seal, record);
    if (text === null) continue;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is in that folder
    const script = SCRIPTS.get('replace-record') as Script;
    sealed += Number(await runScript(redis, script, [record.key], [record.field ?? '', record.stored, text]));
  }
  return sealed;
}

interface SealAllPorts extends SecretPorts {
  readonly seal: Seal;
  readonly tenants: { list(): readonly { readonly id: string }[] };
  readonly log: Log;
}

/** Does so for all tenants. One whose records cannot be read keeps no other from it. */
export async function sealAllSecrets(ports: SealAllPorts): Promise<void> {
  const { tenants, log } = ports;
  for (const tenant of new Set([DEFAULT_TENANT, ...tenants.list().map(({ id }) => id)])) {
    try {
      const records = await sealSecrets(ports, tenant);
      if (records > 0) log.info({ event: 'secrets.sealed', tenant, records }, 'secrets were sealed with the key of now');
    } catch (error) {
      log.error({ err: error, tenant }, 'the secrets of a tenant could not be sealed');
    }
  }
}

/** None of a record that another release wrote in a form of its own. */
function readSecrets({ place, stored }: StoredRecord): string[] {
  try {
    return secretsIn(place.kind, stored);
  } catch {
    return [];
  }
}

/** Null for a record that cannot be opened. */
function sealOne(seal: Seal, { place, stored }: StoredRecord): string | null {
  try {
    return sealAgain(seal, place, stored);
  } catch (error) {
    if (hasCode(error, 'seal.key-lost')) return null;
    throw error;
  }
}
