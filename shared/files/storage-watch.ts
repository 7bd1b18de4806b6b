import { hostname } from 'node:os';
import { z } from 'zod';
import type { Log } from '../log/index.ts';
import { type Keys, readRecords, type RedisClient, redisNow } from '../redis/index.ts';
import { Ticker } from '../time/index.ts';

interface StoragePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
}

/** What is stored: files of tasks, or the archived parts of old tasks. */
export type StoredKind = 'files' | 'archive';

interface StorageWatchPorts extends StoragePorts {
  readonly kind: StoredKind;
  /** Names the storage: the same for all processes that use it. */
  readonly identify: () => Promise<string>;
  readonly log: Log;
}

/** What people read of a kind. */
const WORDS = {
  files: {
    unusable: 'Files cannot be stored here: make MUSTER_DATA_DIR a folder that this process may write to',
    are: 'Files are stored',
    helps: 'set files.s3, or mount one volume at MUSTER_DATA_DIR',
  },
  archive: {
    unusable: 'Old tasks cannot be archived or read here: make archive.dir a folder that this process may write to',
    are: 'Old tasks are archived',
    helps: 'set archive.storage to "s3", or mount one volume at the folder of archive.dir',
  },
} as const satisfies Record<StoredKind, unknown>;

/** A place where some process stores, as it noted last. */
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
 * StorageWatch is responsible for saying in the log that this process stores files, or parts of old tasks, where other processes do not see
 * them, or cannot store any. It notes where they are, for `readStorages`.
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
      onError: (error) =>
        ports.log.debug({ err: error, kind: ports.kind }, 'where this process stores could not be noted; the next round notes it'),
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
    const { redis, keys, kind, identify } = this.#ports;
    const id = await identify().catch((error: unknown) => {
      this.#warn(`${kind}.unusable`, WORDS[kind].unusable, error);
      return null;
    });
    // Another process is just writing it.
    if (id === null || id === '') return;
    const note = { host: hostname(), at: await redisNow(redis) };
    await redis.hset(keyOf(keys, kind), id, JSON.stringify(note));
    const others = (await readStorages(this.#ports, kind)).filter((storage) => storage.id !== id);
    if (others.length > 0) this.#warn(`${kind}.not-shared`, describeStorages([...others, { id, host: note.host }], kind));
    else this.#said = '';
  }

  /** The same is said once. */
  #warn(event: string, message: string, err?: unknown): void {
    if (this.#said === message) return;
    this.#said = message;
    this.#ports.log.warn({ event, ...(err === undefined ? {} : { err }) }, message);
  }
}

function keyOf({ fleet }: Keys, kind: StoredKind): string {
  return kind === 'files' ? fleet.fileStorages : fleet.archiveStorages;
}

/** Where the processes of this fleet store a kind; more than one when what one process stored is missing for others. Forgets old ones. */
export async function readStorages({ redis, keys }: StoragePorts, kind: StoredKind): Promise<NotedStorage[]> {
  const key = keyOf(keys, kind);
  const [stored, now] = await Promise.all([redis.hgetall(key), redisNow(redis)]);
  const { items } = readRecords(Object.entries(stored), (text, id) => ({ id, ...noteSchema.parse(JSON.parse(text)) }));
  const fresh = items
    .filter(({ at }) => now - at < FRESH_MS)
    .toSorted((one, other) => other.at - one.at)
    .slice(0, MAX_NOTES);
  const kept = new Set(fresh.map(({ id }) => id));
  const old = Object.keys(stored).filter((id) => !kept.has(id));
  if (old.length > 0) await redis.hdel(key, ...old);
  return fresh.map(({ id, host }) => ({ id, host }));
}

const SHOWN = 3;

/** The finding and its remedy, for people. */
export function describeStorages(storages: readonly NotedStorage[], kind: StoredKind): string {
  const hosts = [...new Set(storages.map(({ host }) => host))].toSorted();
  const more = hosts.length > SHOWN ? ` and ${hosts.length - SHOWN} more` : '';
  const where = `${hosts.slice(0, SHOWN).join(', ')}${more}`;
  const { are, helps } = WORDS[kind];
  return `${are} in ${storages.length} places (on ${where}), and what one process stores is missing for the others: ${helps}`;
}
