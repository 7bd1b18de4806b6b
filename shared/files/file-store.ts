import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FileSettings } from '../config/index.ts';
import { MusterError } from '../errors/index.ts';
import { type Keys, type RedisClient, redisNow, scriptJson } from '../redis/index.ts';
import { publicTenantId, tenantClosed } from '../tenants/index.ts';
import { removeIfUnused, removeUnused } from './file-cleaner.ts';
import {
  type FileAttempt,
  type FileDescription,
  type KeptRunFile,
  parseFile,
  parseKeptRun,
  parseTaskFile,
  runFileScript,
  type StoredFile,
  type TaskFile,
} from './file-records.ts';
import type { FilePlace, FileStorage } from './storage/file-storage.ts';
import { type FileSource, fileTooLarge, type Spool } from './storage/spool.ts';

export interface UploadedFile extends StoredFile {
  /** ISO; until then a task can have it. */
  readonly expiresAt: string;
}

interface UploadOptions {
  readonly keepMs?: number;
  readonly maxBytes?: number;
}

export interface FileStorePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: FileSettings;
  readonly storage: FileStorage;
  readonly spool: Spool;
}

/** Within this a task whose files were bound is accepted, or never. */
const ACCEPT_MS = 60_000;
const BUSY_RETRY_MS = 1000;
const FULL_RETRY_MS = 60_000;

/** FileStore is responsible for the files of all tenants: what each has, of which tasks they are, and their bytes in the storage. */
export class FileStore {
  readonly #ports: FileStorePorts;
  #transfers = 0;

  constructor(ports: FileStorePorts) {
    this.#ports = ports;
  }

  get settings(): FileSettings {
    return this.#ports.settings;
  }

  /**
   * Stores a file that waits for its task, for `keepMs` (by default `files.uploadMs`); it is on disk and counted once this resolves. `maxBytes`: by
   * default `files.maxFileBytes`.
   * Errors: `request.too-large`, `limit.storage`, `limit.bodies`, `unavailable.files`, `tenant.disabled`, `tenant.ended`.
   */
  async upload(tenant: string, described: FileDescription, source: FileSource, how: UploadOptions = {}): Promise<UploadedFile> {
    const { file, dueAt } = await this.#store(tenant, described, { keepMs: this.settings.uploadMs, ...how, source });
    return { ...file, expiresAt: new Date(dueAt).toISOString() };
  }

  /**
   * Gives uploads to a task that is accepted within a minute; they are kept as long as it is.
   * Errors: `upload.not-found`, `request.too-large` for more than `files.maxBytesPerTask` together.
   */
  async bind(tenant: string, task: string, uploads: readonly string[]): Promise<StoredFile[]> {
    const own = this.#ports.keys.tenant(tenant);
    const [kind, ...answers] = await runFileScript(
      this.#ports.redis,
      'bind-files',
      [own.files, own.fileOwners, this.#due(tenant)],
      [JSON.stringify({ tenant, task, graceMs: ACCEPT_MS }), ...uploads],
    );
    if (kind === 'unknown') throw uploadNotFound(answers[0] ?? '');
    const files = answers.map((text, place) => parseFile(uploads[place] ?? '', text));
    const { maxBytesPerTask } = this.settings;
    if (files.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytesPerTask) {
      throw new MusterError('request.too-large', `The attachments have more than ${maxBytesPerTask} bytes together`);
    }
    return files;
  }

  /**
   * Stores a file that an attempt made, as `out/<name>`, or fetched, as `in/<place>`, or that has what a step of its run gave, as `journal/<number>`.
   * One under the same name is replaced.
   * Errors: `file.attempt-over`, and those of `upload`.
   */
  async add(by: FileAttempt, field: string, described: FileDescription, source: FileSource): Promise<TaskFile> {
    const { file } = await this.#store(by.tenant, described, { source, keepMs: Math.max(this.settings.checkMs, ACCEPT_MS) });
    const entry: TaskFile = { ...file, attempt: by.attempt, at: Date.now() };
    const { keys } = this.#ports;
    const own = keys.tenant(by.tenant);
    const { maxPerTask, maxBytesPerTask: maxBytes } = this.settings;
    // A run has a bound of its own for its steps.
    const maxFiles = field.startsWith('journal/') ? Number.MAX_SAFE_INTEGER : maxPerTask;
    const options = { tenant: by.tenant, task: by.task, lease: by.lease, maxFiles, maxBytes };
    const [kind] = await runFileScript(
      this.#ports.redis,
      'add-task-file',
      [own.taskFiles(by.task), own.files, own.fileOwners, this.#due(by.tenant), keys.shard(keys.shardOf(by.tenant)).leases],
      [JSON.stringify(options), field, scriptJson(entry)],
    );
    if (kind === 'added') return entry;
    await removeIfUnused(this.#ports, by.tenant, file.file).catch(() => undefined);
    if (kind === 'full')
      throw new MusterError('request.too-large', `The task has more than ${maxFiles} files, or ${maxBytes} bytes in them`);
    throw attemptOver();
  }

  /**
   * Stores what a run leaves for the next one of its agent in the same session, or of the same task, in the place of what was left before. It is
   * kept for `keepMs`, and no longer than its task. Errors: `file.attempt-over`, and those of `upload`.
   */
  async keepRun(by: FileAttempt, place: KeptPlace, source: FileSource, { maxBytes, keepMs }: KeepRunOptions): Promise<void> {
    const at = Date.now();
    const described = { name: 'session.tar.gz', mediaType: 'application/gzip', until: at + keepMs };
    const dueInMs = Math.max(this.settings.checkMs, ACCEPT_MS);
    const { file } = await this.#store(by.tenant, described, { source, keepMs: dueInMs, maxBytes });
    const { keys } = this.#ports;
    const own = keys.tenant(by.tenant);
    const entry: KeptRunFile = { file: file.file, bytes: file.bytes, task: by.task, at, note: place.note };
    const [kind, former = ''] = await runFileScript(
      this.#ports.redis,
      'keep-run',
      [own.keptRuns(place.of), own.files, own.fileOwners, this.#due(by.tenant), keys.shard(keys.shardOf(by.tenant)).leases],
      [JSON.stringify({ tenant: by.tenant, agent: place.agent, lease: by.lease, keepMs }), scriptJson(entry)],
    );
    // What cannot be removed now is removed when it is checked.
    const unused = kind === 'kept' ? former : file.file;
    if (unused !== '') await removeIfUnused(this.#ports, by.tenant, unused).catch(() => undefined);
    if (kind !== 'kept') throw attemptOver();
  }

  /** What runs left, by agent. `of`: as it was kept. */
  async listKeptRuns(tenant: string, of: KeptPlace['of']): Promise<Map<string, KeptRunFile>> {
    const found = await this.#ports.redis.hgetall(this.#ports.keys.tenant(tenant).keptRuns(of));
    return new Map(Object.entries(found).map(([agent, text]) => [agent, parseKeptRun(text)]));
  }

  /** Files that were made by a task (`out`), or fetched for it (`in`): by name or place. */
  async list(tenant: string, task: string, kind: 'in' | 'out'): Promise<Map<string, TaskFile>> {
    const found = await this.#ports.redis.hgetall(this.#ports.keys.tenant(tenant).taskFiles(task));
    const own = Object.entries(found).filter(([field]) => field.startsWith(`${kind}/`));
    const files = own.map(([field, text]) => [field.slice(kind.length + 1), parseTaskFile(text)] as const);
    return new Map(files.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }

  /** What a tenant's file is; null when there is none. */
  async find(tenant: string, file: string): Promise<StoredFile | null> {
    const text = await this.#ports.redis.hget(this.#ports.keys.tenant(tenant).files, file);
    return text === null ? null : parseFile(file, text);
  }

  /** What several of a tenant's files are, in their order; null for each that is gone. */
  async findAll(tenant: string, files: readonly string[]): Promise<(StoredFile | null)[]> {
    if (files.length === 0) return [];
    const texts = await this.#ports.redis.hmget(this.#ports.keys.tenant(tenant).files, ...files);
    return files.map((file, at) => (texts[at] == null ? null : parseFile(file, texts[at])));
  }

  /** Opens a file's bytes; null when they are gone. Who opens the stream reads it to its end or destroys it. */
  async open(place: FilePlace): Promise<Readable | null> {
    return await this.#ports.storage.read(place);
  }

  /** Keeps a file for so long from now on, at least, ms. */
  async prolong(tenant: string, file: string, keepMs: number): Promise<void> {
    const now = await redisNow(this.#ports.redis);
    await this.#ports.redis.zadd(this.#due(tenant), 'XX', 'GT', now + keepMs, `${tenant}/${file}`);
  }

  /** Removes a file that no kept task has. Returns whether it did. */
  async remove(tenant: string, file: string): Promise<boolean> {
    return await removeIfUnused(this.#ports, tenant, file);
  }

  /** Removes files that no kept task has, at this time (Redis's, ms). Returns how many. */
  async removeUnused(now: number): Promise<number> {
    return await removeUnused(this.#ports, now);
  }

  /** Names the place of the bytes: the same for all processes that store them there. Errors: `unavailable.files`. */
  async identify(): Promise<string> {
    return await this.#ports.storage.identify();
  }

  /** Removes the bytes of a tenant that has ended. */
  async removeTenant(tenant: string): Promise<void> {
    await this.#ports.storage.removeTenant(tenant);
  }

  async #store(tenant: string, described: FileDescription, how: StoreOptions): Promise<{ file: StoredFile; dueAt: number }> {
    const { maxTransfers } = this.settings;
    const { maxBytes = this.settings.maxFileBytes } = how;
    if (this.#transfers >= maxTransfers) {
      throw new MusterError('limit.bodies', `${maxTransfers} files arrive at once already`, { retryAfterMs: BUSY_RETRY_MS });
    }
    this.#transfers += 1;
    try {
      return await this.#ports.spool.with(how.source, maxBytes, async (spooled) => {
        const file: StoredFile = { file: newFileId(), ...described, bytes: spooled.bytes };
        const dueAt = await this.#count(tenant, file, how.keepMs);
        // Should this fail, the file is counted until it expires, and nobody knows its id.
        await this.#ports.storage.write({ tenant, file: file.file }, spooled);
        return { file, dueAt };
      });
    } finally {
      this.#transfers -= 1;
    }
  }

  async #count(tenant: string, { file, ...record }: StoredFile, keepMs: number): Promise<number> {
    const { keys } = this.#ports;
    const own = keys.tenant(tenant);
    const { maxPerTenant: maxFiles, maxBytesPerTenant: maxBytes } = this.settings;
    const [kind, first = ''] = await runFileScript(
      this.#ports.redis,
      'add-file',
      [own.files, own.fileTotals, this.#due(tenant), keys.shard(keys.shardOf(tenant)).tenantStates],
      [JSON.stringify({ tenant, maxFiles, maxBytes, keepMs }), file, record.bytes, scriptJson(record)],
    );
    if (kind === 'added') return Number(first);
    if (kind === 'closed') throw tenantClosed(tenant, first === 'disabled' ? 'disabled' : 'ended');
    throw new MusterError('limit.storage', `Tenant ${publicTenantId(tenant)} may keep ${maxFiles} files of ${maxBytes} bytes together`, {
      details: { maxFiles, maxBytes },
      retryAfterMs: FULL_RETRY_MS,
    });
  }

  #due(tenant: string): string {
    const { keys } = this.#ports;
    return keys.shard(keys.shardOf(tenant)).filesDue;
  }
}

interface StoreOptions {
  readonly source: FileSource;
  readonly keepMs: number;
  /** Instead of `files.maxFileBytes`. */
  readonly maxBytes?: number;
}

/** Where what a run leaves is found by the next one. */
export interface KeptPlace {
  /** A session, or a task without one. */
  readonly of: `session/${string}` | `task/${string}`;
  readonly agent: string;
  /** What the next run has to know of it, as JSON. */
  readonly note: unknown;
}

interface KeepRunOptions {
  readonly maxBytes: number;
  readonly keepMs: number;
}

function attemptOver(): MusterError {
  return new MusterError('file.attempt-over', 'The attempt that may add files to this task is over');
}

/** Nobody can guess it. In hexadecimal digits, which the names of files and objects may hold on any system. */
function newFileId(): string {
  return randomBytes(16).toString('hex');
}

export function uploadNotFound(upload: string): MusterError {
  return new MusterError('upload.not-found', `There is no upload "${upload.slice(0, 100)}", or it has expired`);
}

/** The bytes of a file of which it is known how many there may be. Errors: `request.too-large`. */
export async function readAll(source: FileSource, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw fileTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
