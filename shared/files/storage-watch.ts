import { hostname } from 'node:os';
import { z } from 'zod';
import type { Log } from '../log/index.ts';
import { type Keys, readRecords, type RedisClient, redisNow } from '../redis/index.ts';
import { Ticker } from '../time/index.ts';
import type { FileStore } from './file-store.ts';

interface StoragePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

interface StorageWatchPorts extends StoragePorts {
  readonly files: Pick<FileStore, 'identify'>;
  readonly log: Log;
}

/** Where some process stores files, as it noted last. */
export interface NotedStorage {
  id: string;
  /** Machine, or container. */
  host: string;
}

const noteSchema = z.strictObject({ host: z.string(), at: z.number() });

const NOTE_MS = 60_000;
/** A storage that no process has noted for so long is not used any more. */
const FRESH_MS = 3 * NOTE_MS;
/** Notes in all, however often a process starts with an empty disk. */
const MAX_NOTES = 1000;

/**
 * StorageWatch is responsible for saying in the log that this process stores files where other processes do not see them, or cannot store
 * any. It notes where they are, for `readStorages`.
 */
export class StorageWatch {
  readonly #ports: StorageWatchPorts;
  readonly #ticker: Ticker;
  #said = '';

  constructor(ports: StorageWatchPorts) {
    this.#ports = ports;
    this.#ticker = new Ticker({
      everyMs: NOTE_MS,
      isBackground: true,
      run: () => this.#note(),
      onError: (error) => ports.log.debug({ err: error }, 'where files are stored could not be noted; the next round notes it'),
    });
  }

  start(): void {
    this.#ticker.start();
    this.#ticker.tick();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  async #note(): Promise<void> {
    const { redis, keys, files } = this.#ports;
    const id = await files.identify().catch((error: unknown) => {
      this.#warn('files.unusable', 'Files cannot be stored here: make MUSTER_DATA_DIR a folder that this process may write to', error);
      return null;
    });
    // Another process is just writing it.
    if (id === null || id === '') return;
    const note = { host: hostname(), at: await redisNow(redis) };
    await redis.hset(keys.fleet.fileStorages, id, JSON.stringify(note));
    const others = (await readStorages(this.#ports)).filter((storage) => storage.id !== id);
    if (others.length > 0) this.#warn('files.not-shared', describeStorages([...others, { id, host: note.host }]));
    else this.#said = '';
  }

  /** The same is said once. */
  #warn(event: string, message: string, err?: unknown): void {
    if (this.#said === message) return;
    this.#said = message;
    this.#ports.log.warn({ event, ...(err === undefined ? {} : { err }) }, message);
  }
}

/** Where the processes of this fleet store files; more than one when a file of one process is missing for others. Forgets old ones. */
export async function readStorages({ redis, keys }: StoragePorts): Promise<NotedStorage[]> {
  const [stored, now] = await Promise.all([redis.hgetall(keys.fleet.fileStorages), redisNow(redis)]);
  const { items } = readRecords(Object.entries(stored), (text, id) => ({ id, ...noteSchema.parse(JSON.parse(text)) }));
  const fresh = items
    .filter(({ at }) => now - at < FRESH_MS)
    .toSorted((one, other) => other.at - one.at)
    .slice(0, MAX_NOTES);
  const kept = new Set(fresh.map(({ id }) => id));
  const old = Object.keys(stored).filter((id) => !kept.has(id));
  if (old.length > 0) await redis.hdel(keys.fleet.fileStorages, ...old);
  return fresh.map(({ id, host }) => ({ id, host }));
}

const SHOWN = 3;

/** The finding and its remedy, for people. */
export function describeStorages(storages: readonly NotedStorage[]): string {
  const hosts = [...new Set(storages.map(({ host }) => host))].toSorted();
  const more = hosts.length > SHOWN ? ` and ${hosts.length - SHOWN} more` : '';
  const where = `${hosts.slice(0, SHOWN).join(', ')}${more}`;
  return `Files are stored in ${storages.length} places (on ${where}), and what one process stores is missing for the others: set files.s3, or mount one volume at MUSTER_DATA_DIR`;
}
