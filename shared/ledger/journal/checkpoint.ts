import { MusterError } from '../../errors/index.ts';
import type { Ledger } from '../ledger.ts';

/** The field of a journal that has what its run left for the next attempt. */
const CHECKPOINT = 'checkpoint';

/**
 * Keeps what a running attempt leaves for the next one, in the place of what was there. `lease`: the attempt's. Returns false once that is over; nothing
 * is written then. Errors: `request.too-large` for more than `journal.maxEntryBytes`.
 */
export async function keepCheckpoint(
  ledger: Ledger,
  { tenant, id, lease }: { tenant: string; id: string; lease: string },
  text: string,
): Promise<boolean> {
  const [bytes, max] = [Buffer.byteLength(text), ledger.settings.journal.maxEntryBytes];
  if (bytes > max)
    throw new MusterError('request.too-large', `A checkpoint has at most ${max} bytes (journal.maxEntryBytes), and this one ${bytes}`);
  const keys = [ledger.keys.shard(ledger.keys.shardOf(tenant)).leases, ledger.keys.tenant(tenant).journal(id)];
  const [isKept] = (await ledger.run('append-journal', keys, [lease, 0, 1, CHECKPOINT, text])) as number[];
  return isKept === 1;
}

/** What earlier attempts of a task left; null for nothing. */
export async function readCheckpoint(
  { redis, keys }: Pick<Ledger, 'redis' | 'keys'>,
  { tenant, id }: { tenant: string; id: string },
): Promise<string | null> {
  return await redis.hget(keys.tenant(tenant).journal(id), CHECKPOINT);
}
