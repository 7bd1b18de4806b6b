import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Config, loadConfig, startCommand } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { openArchive } from '#shared/files/index.ts';
import { createLedger, type Ledger } from '#shared/ledger/index.ts';
import { createLog } from '#shared/log/index.ts';
import { connectRedis, createKeys } from '#shared/redis/index.ts';
import { publicTenantId, Seal } from '#shared/tenants/index.ts';
import { isStillRunning } from '../fleet/process-start.ts';
import { readRedisRecord, redisUrl } from '../redis/redis-program.ts';
import { makeBackup } from './make-backup.ts';
import { restoreBackup, wipeRestore } from './restore-backup.ts';

interface RunOptions {
  out: { write(text: string): unknown };
  load?: () => Promise<Config>;
}

const LEFT_OUT =
  'Secrets of hooks, agents and callbacks are left out, because there is no MUSTER_SEAL_KEY: set them anew after a restore, or give --passphrase-file.';
const FILES = 'The bytes of files are not in it: back up their storage besides (MUSTER_DATA_DIR/files, or the bucket).';

/** `muster backup`: writes what the fleet of REDIS_URL, or else of this machine, has into a file. */
export async function runBackup(args: readonly string[], { out, load = loadConfig }: RunOptions): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { to: { type: 'string' }, tenant: { type: 'string' }, 'passphrase-file': { type: 'string' } },
  });
  const file = resolve(needed(values.to, '--to'));
  await withLedger(await load(), async (ledger) => {
    const { manifest, counts, resumed } = await makeBackup(ledger, {
      file,
      tenant: values.tenant,
      passphrase: passphraseIn(values['passphrase-file']),
    });
    const names =
      manifest.tenants.length === 1 ? `the tenant ${publicTenantId(manifest.tenants[0] ?? '')}` : `${manifest.tenants.length} tenants`;
    out.write(`${file} has ${names} as of ${manifest.at}: tasks ${counts['tasks']}, other records ${counts['keys']}.\n`);
    if (resumed > 0) out.write(`It went on behind what was written before (tasks: ${resumed}).\n`);
    if (manifest.secrets === 'left-out') out.write(`${LEFT_OUT}\n`);
    out.write(`${FILES}\n`);
  });
}

/** `muster restore`: gives a backup to the fleet of REDIS_URL, or else of this machine. */
export async function runRestore(args: readonly string[], { out, load = loadConfig }: RunOptions): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string' },
      tenant: { type: 'string' },
      'passphrase-file': { type: 'string' },
      replace: { type: 'boolean' },
      wipe: { type: 'boolean' },
    },
  });
  await withLedger(await load(), async (ledger) => {
    if (values.wipe === true) {
      const emptied = await wipeRestore(ledger);
      out.write(
        emptied === null ? 'No restore is half done.\n' : `Removed what was restored of ${emptied.map(publicTenantId).join(', ')}.\n`,
      );
      return;
    }
    const file = resolve(needed(values.from, '--from'));
    const passphrase = passphraseIn(values['passphrase-file']);
    const { manifest, tenants, tasks } = await restoreBackup(ledger, {
      file,
      tenant: values.tenant,
      passphrase,
      replaces: values.replace === true,
    });
    out.write(`Restored ${tenants.length === 1 ? '1 tenant' : `${tenants.length} tenants`} as of ${manifest.at}: ${tasks} tasks.\n`);
    if (manifest.secrets === 'left-out') out.write(`${LEFT_OUT}\n`);
  });
}

function needed(value: string | undefined, option: string): string {
  if (value !== undefined) return value;
  throw new MusterError('config.invalid', `${option} <file> is needed`);
}

function passphraseIn(file: string | undefined): string | null {
  return file === undefined ? null : readFileSync(file, 'utf8').trim();
}

async function withLedger(config: Config, use: (ledger: Ledger) => Promise<void>): Promise<void> {
  const url = config.readVariable('REDIS_URL') === undefined ? localUrl(config) : config.env.REDIS_URL;
  if (url === null)
    throw new MusterError('config.invalid', `No fleet runs on this machine: start one by \`${startCommand()}\`, or set REDIS_URL`);
  const { SHARDS, MUSTER_SEAL_KEY, MUSTER_SEAL_KEY_PREVIOUS } = config.env;
  const log = createLog({ level: 'silent', service: 'backup' });
  // Pages may be large: no call is given up.
  const redis = connectRedis({ url, name: 'backup', log, role: 'blocking' });
  try {
    const seal = new Seal({ key: MUSTER_SEAL_KEY, previous: MUSTER_SEAL_KEY_PREVIOUS });
    const { settings } = config;
    const archive = openArchive(config);
    await use(createLedger({ redis, keys: createKeys(SHARDS), settings, seal, archive, limitsOf: () => null, onTicket: () => undefined }));
  } finally {
    redis.disconnect();
  }
}

/** The address of the running Redis on this machine's data directory. */
function localUrl(config: Config): string | null {
  const record = readRedisRecord(join(resolve(config.env.MUSTER_DATA_DIR), 'redis'));
  return record && isStillRunning(record) ? redisUrl(record.address) : null;
}
