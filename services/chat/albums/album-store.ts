import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { loadScripts, type RedisClient, runScript, type Script, scriptJson, type TenantKeys } from '#shared/redis/index.ts';
import { chatMessageSchema, type ChatMessage } from '../receive/chat-message.ts';

export type AlbumKeys = Pick<TenantKeys, 'albumsDue' | 'albumParts' | 'albumBatch' | 'albumsTaken'>;

export interface AlbumStoreOptions {
  redis: RedisClient;
  /** Of the tenant that chat belongs to, read for each call: the tenant's name may become another tenant's. */
  keys: () => AlbumKeys;
  platform: string;
  /** How long the next part is waited for. */
  waitMs: number;
  maxParts: number;
  /** How long unaccepted parts are kept, and accepted parts are remembered. */
  keepMs: number;
}

/** Parts that are becoming messages. */
export interface AlbumBatch {
  readonly session: string;
  readonly parts: readonly ChatMessage[];
  /** As it is kept. */
  readonly stored: string;
}

/** `gathering`: it is kept; `known`: it became a message before; `late`: its album did, without it. */
export type AddedPart = 'gathering' | 'known' | 'late';

/** Another process may claim a batch again after so long without a result. */
const LEASE_MS = 10_000;
/** Bound of the sessions of one poll. */
const MAX_DUE = 100;

const partsSchema = z.array(chatMessageSchema);
const addedSchema = z.enum(['gathering', 'known', 'late']);

let loaded: ReadonlyMap<string, Script> | undefined;

function script(name: 'add-part' | 'claim-parts' | 'finish-parts'): Script {
  loaded ??= loadScripts(fileURLToPath(new URL('scripts', import.meta.url)));
  const found = loaded.get(name);
  if (!found) throw new Error(`There is no script ${name}`);
  return found;
}

/** AlbumStore is responsible for parts of albums in Redis, so that none is lost when a process dies before their message is accepted. */
export class AlbumStore {
  readonly #options: AlbumStoreOptions;

  constructor(options: AlbumStoreOptions) {
    this.#options = options;
  }

  /** `canBeLate`: returns `late` for a part whose album is a message by now. */
  async add(part: ChatMessage, album: string, canBeLate: boolean): Promise<AddedPart> {
    const { redis, platform, waitMs, maxParts, keepMs } = this.#options;
    const keys = this.#options.keys();
    const { session, key } = part;
    const answer = await runScript(
      redis,
      script('add-part'),
      [keys.albumParts(session), keys.albumsTaken(session), keys.albumsDue(platform)],
      [session, key, scriptJson(part), canBeLate ? album : '', waitMs, maxParts, keepMs],
    );
    return addedSchema.parse(answer);
  }

  /** The parts of a session that become messages now; null for none. `isForced`: before they are due. */
  async claim(session: string, isForced: boolean): Promise<AlbumBatch | null> {
    const { redis, platform, keepMs } = this.#options;
    const keys = this.#options.keys();
    const stored = await runScript(
      redis,
      script('claim-parts'),
      [keys.albumParts(session), keys.albumBatch(session), keys.albumsDue(platform)],
      [session, LEASE_MS, isForced ? 1 : 0, keepMs],
    );
    return typeof stored === 'string' ? { session, stored, parts: partsSchema.parse(JSON.parse(stored)) } : null;
  }

  /** Which of these albums became a message before `now`, ms. */
  async late(session: string, albums: readonly string[], now: number): Promise<ReadonlySet<string>> {
    const { redis } = this.#options;
    if (albums.length === 0) return new Set();
    const until = await redis.zmscore(
      this.#options.keys().albumsTaken(session),
      albums.map((album) => `album/${album}`),
    );
    return new Set(albums.filter((_album, index) => Number(until[index] ?? 0) > now));
  }

  /** `albums`: by name how long a further part counts as late, ms. */
  async finish({ session, stored, parts }: AlbumBatch, albums: Readonly<Record<string, number>>): Promise<void> {
    const { redis, platform, keepMs } = this.#options;
    const keys = this.#options.keys();
    const names = [
      ...parts.map(({ key }) => [`part/${key}`, keepMs]),
      ...Object.entries(albums).map(([album, ms]) => [`album/${album}`, ms]),
    ];
    await runScript(
      redis,
      script('finish-parts'),
      [keys.albumParts(session), keys.albumBatch(session), keys.albumsTaken(session), keys.albumsDue(platform)],
      [session, stored, JSON.stringify(parts.map(({ key }) => key)), JSON.stringify(Object.fromEntries(names)), keepMs],
    );
  }

  /** Sessions whose parts are due by `now`, ms. */
  async due(now: number): Promise<string[]> {
    const { redis, platform } = this.#options;
    const keys = this.#options.keys();
    return await redis.zrangebyscore(keys.albumsDue(platform), '-inf', now, 'LIMIT', 0, MAX_DUE);
  }
}
