import { MusterError } from '../../errors/index.ts';
import type { Ledger } from '../ledger.ts';

/** The fields of a journal that have what its run left for the next attempt, and the lease of the attempt that left it. */
const CHECKPOINT = 'checkpoint';
const LEFT_BY = 'checkpoint-by';

/**
 * Keeps what a running attempt leaves for the next one, in the place of what was there. `lease`: the attempt's. Returns false once that is over; nothing
 * is written then. Errors: `checkpoint.too-large` for more than `journal.maxEntryBytes`.
 */
export async function keepCheckpoint(
  ledger: Ledger,
  { tenant, id, lease }: { tenant: string; id: string; lease: string },
  text: string,
): Promise<boolean> {
  const [bytes, max] = [Buffer.byteLength(text), ledger.settings.journal.maxEntryBytes];
  if (bytes > max)
    throw new MusterError('checkpoint.too-large', `A checkpoint has at most ${max} bytes (journal.maxEntryBytes), and this one ${bytes}`);
  const keys = [ledger.keys.shard(ledger.keys.shardOf(tenant)).leases, ledger.keys.tenant(tenant).journal(id)];
  const fields = [CHECKPOINT, ledger.seal.seal(text, contextOf(tenant, id)), LEFT_BY, lease];
  const [isKept] = (await ledger.run('append-journal', keys, [lease, 0, 2, ...fields])) as number[];
  return isKept === 1;
}

export interface Checkpoint {
  text: string;
  /** The lease of the attempt that left it. */
  by: string | null;
}

/** What attempts of a task left last; null for nothing. Errors: `seal.key-lost`. */
export async function readCheckpoint(
  { redis, keys, seal }: Pick<Ledger, 'redis' | 'keys' | 'seal'>,
  { tenant, id }: { tenant: string; id: string },
): Promise<Checkpoint | null> {
  const [stored, by = null] = await redis.hmget(keys.tenant(tenant).journal(id), CHECKPOINT, LEFT_BY);
  return stored == null ? null : { text: seal.open(stored, contextOf(tenant, id)), by };
}

function contextOf(tenant: string, id: string): string {
  return `checkpoint/${tenant}/${id}`;
}
