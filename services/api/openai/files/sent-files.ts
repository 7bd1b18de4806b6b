import { z } from 'zod';
import { MusterError } from '#shared/errors/index.ts';
import type { FileStore, StoredFile } from '#shared/files/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import { writeOfTenant } from '#shared/tenants/index.ts';

const PREFIX = 'file-';

const recordSchema = z.object({ purpose: z.string(), createdAt: z.number(), expiresAt: z.number() });

/** A file as its clients know it. */
export interface SentFile extends z.infer<typeof recordSchema> {
  /** With the prefix of this protocol. */
  readonly id: string;
  readonly stored: StoredFile;
}

interface FilePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly files: FileStore;
}

interface NewFile {
  readonly name: string;
  readonly mediaType: string;
  readonly content: AsyncIterable<Uint8Array>;
  /** Asked for once the content has ended. */
  readonly purpose: () => string;
  readonly keepMs: number;
  readonly maxBytes: number;
}

/** SentFiles is responsible for the files that came by this protocol, and those that batches made, each with its purpose. */
export class SentFiles {
  readonly #ports: FilePorts;

  constructor(ports: FilePorts) {
    this.#ports = ports;
  }

  /** Errors: as `FileStore.upload`. */
  async add(tenant: string, { name, mediaType, content, purpose, ...how }: NewFile): Promise<SentFile> {
    const { files } = this.#ports;
    const { expiresAt, ...stored } = await files.upload(tenant, { name, mediaType }, content, how);
    try {
      const record = { purpose: purpose(), createdAt: Date.now(), expiresAt: Date.parse(expiresAt) };
      const key = this.#key(tenant);
      await writeOfTenant(this.#ports, { tenant, key, command: ['HSET', stored.file, JSON.stringify(record)] });
      await this.#forgetGone(tenant);
      return { id: `${PREFIX}${stored.file}`, stored, ...record };
    } catch (error) {
      await files.remove(tenant, stored.file).catch(() => undefined);
      throw error;
    }
  }

  /** Errors: `upload.not-found`, also for another tenant's. */
  async find(tenant: string, id: string): Promise<SentFile> {
    const file = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : '';
    const [text, stored] = await Promise.all([this.#ports.redis.hget(this.#key(tenant), file), this.#ports.files.find(tenant, file)]);
    if (text === null || stored === null) throw new MusterError('upload.not-found', `There is no file "${id.slice(0, 100)}"`);
    return { id, stored, ...readRecord(text) };
  }

  /** Those that are kept, oldest first. */
  async list(tenant: string, purpose: string | undefined): Promise<SentFile[]> {
    const { redis, files } = this.#ports;
    const records = Object.entries(await redis.hgetall(this.#key(tenant)))
      .map(([file, text]) => Object.assign({ file }, readRecord(text)))
      .filter((each) => purpose === undefined || each.purpose === purpose)
      .toSorted((one, other) => one.createdAt - other.createdAt);
    const found: SentFile[] = [];
    for (let from = 0; from < records.length; from += PAGE) {
      const page = records.slice(from, from + PAGE);
      const known = await files.findAll(
        tenant,
        page.map(({ file }) => file),
      );
      for (const [at, { file, ...record }] of page.entries()) {
        const stored = known[at];
        if (stored) found.push({ id: `${PREFIX}${file}`, stored, ...record });
      }
    }
    return found;
  }

  async remove(tenant: string, id: string): Promise<void> {
    const { stored } = await this.find(tenant, id);
    await this.#ports.redis.hdel(this.#key(tenant), stored.file);
    await this.#ports.files.remove(tenant, stored.file);
  }

  /** A tenant has no more files than the store lets it; the records of others go here. */
  async #forgetGone(tenant: string): Promise<void> {
    const { redis, files } = this.#ports;
    const key = this.#key(tenant);
    if ((await redis.hlen(key)) <= files.settings.maxPerTenant) return;
    const ids = await redis.hkeys(key);
    const known = await files.findAll(tenant, ids);
    const gone = ids.filter((_id, at) => known[at] === null);
    if (gone.length > 0) await redis.hdel(key, ...gone);
  }

  #key(tenant: string): string {
    return this.#ports.keys.tenant(tenant).sentFiles;
  }
}

/** Records read together. */
const PAGE = 500;

function readRecord(text: string): z.infer<typeof recordSchema> {
  return recordSchema.parse(JSON.parse(text));
}
