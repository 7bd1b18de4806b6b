import { randomBytes, scryptSync } from 'node:crypto';
import { hasCode, MusterError } from '#shared/errors/index.ts';
import { openRecord, type RecordPlace, Seal, sealRecord } from '#shared/tenants/index.ts';
import type { Manifest } from './backup-record.ts';

/** As OWASP has it for scrypt: a guess takes a tenth of a second and 64 MiB. */
const COST = { N: 2 ** 16, r: 8, p: 1, maxmem: 128 * 1024 * 1024 } as const;
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const CHECK = 'muster';
const RANDOM_BYTES = 32;

type Said = Pick<Manifest, 'secrets' | 'salt' | 'check'>;

/** The names of the keys of a tenant that have secrets in them. */
const PLACES: Readonly<Record<string, RecordPlace['kind']>> = { agents: 'agents', hooks: 'hooks', 'callback-secret': 'callbacks' };

/** BackupSecrets is responsible for secrets never being in a backup in clear: sealed with the fleet's key, or with a passphrase, or not at all. */
export class BackupSecrets {
  readonly said: Said;
  readonly #fleet: Seal;
  /** What seals and opens them in the backup. */
  readonly #seal: Seal | null;

  private constructor(fleet: Seal, seal: Seal | null, said: Said) {
    this.#fleet = fleet;
    this.#seal = seal;
    this.said = said;
  }

  /** For a new backup, or for going on with one that says this. */
  static forBackup(fleet: Seal, passphrase: string | null, salt = randomBytes(SALT_BYTES).toString('base64url')): BackupSecrets {
    if (passphrase !== null) {
      const seal = sealOf(passphrase, salt);
      return new BackupSecrets(fleet, seal, { secrets: 'passphrase', salt, check: seal.seal(CHECK, 'backup') });
    }
    if (fleet.keyId === null) return new BackupSecrets(fleet, null, { secrets: 'left-out', salt: null, check: null });
    return new BackupSecrets(fleet, fleet, { secrets: 'sealed', salt: null, check: fleet.seal(CHECK, 'backup') });
  }

  /** For a restore. Errors: `backup.refused` without the key or passphrase of the backup. */
  static forRestore(fleet: Seal, passphrase: string | null, said: Said): BackupSecrets {
    const seal = said.secrets === 'sealed' ? fleet : passphrase === null || said.salt === null ? null : sealOf(passphrase, said.salt);
    if (said.secrets === 'left-out' || (seal !== null && opens(seal, said.check))) return new BackupSecrets(fleet, seal, said);
    const needed =
      said.secrets === 'sealed'
        ? 'MUSTER_SEAL_KEY has to be the key of the fleet that it is of'
        : 'it needs its passphrase: --passphrase-file';
    throw new MusterError('backup.refused', `The secrets of this backup cannot be opened: ${needed}`);
  }

  /** A record of a tenant's key as it may be in a backup. Secrets that are left out are random there, so that nothing proves itself by them. */
  toBackup(place: StoredPlace, stored: string): string {
    return change(place, stored, (of) =>
      sealRecord(this.#seal ?? { seal: () => randomBytes(RANDOM_BYTES).toString('base64url') }, of, read(this.#fleet, of, stored)),
    );
  }

  /** The same as the fleet keeps it. */
  fromBackup(place: StoredPlace, stored: string): string {
    const seal = this.#seal;
    if (seal === null) return stored;
    return change(place, stored, (of) => sealRecord(this.#fleet, of, read(seal, of, stored)));
  }
}

interface StoredPlace {
  readonly tenant: string;
  readonly name: string;
  readonly field: string;
}

function change({ tenant, name, field }: StoredPlace, stored: string, seal: (place: RecordPlace) => string): string {
  const kind = PLACES[name];
  if (kind === undefined) return stored;
  try {
    return seal({ kind, tenant, id: kind === 'callbacks' ? '' : field });
  } catch (error) {
    // It stays sealed with a key that nobody has here.
    if (hasCode(error, 'seal.key-lost')) return stored;
    throw error;
  }
}

function read(seal: Seal, place: RecordPlace, stored: string): object {
  const record = openRecord(seal, place, stored);
  return typeof record === 'object' && record !== null ? record : {};
}

function sealOf(passphrase: string, salt: string): Seal {
  return new Seal({ key: scryptSync(passphrase, Buffer.from(salt, 'base64url'), KEY_BYTES, COST) });
}

function opens(seal: Seal, check: string | null): boolean {
  try {
    return check !== null && seal.open(check, 'backup') === CHECK;
  } catch {
    return false;
  }
}
