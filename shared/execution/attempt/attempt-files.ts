import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import pMap from 'p-map';
import type { AttemptFiles as RunnerFiles, GuardedFetch, OutputFile } from '../../agents/index.ts';
import type { AgentAttachment, AgentLog } from '../../config/index.ts';
import { type ErrorCode, hasCode, TaskFailure } from '../../errors/index.ts';
import {
  type Attachment,
  cleanFileName,
  cleanMediaType,
  type FileAttempt,
  type FileLinks,
  type FileSource,
  type FileStore,
  mediaTypeOfName,
  readAll,
  type StoredFile,
  uniqueNames,
} from '../../files/index.ts';
import { fetchAttachment } from './fetch-attachment.ts';
import type { RunningAttempt } from './running-attempt.ts';

export interface FilePorts {
  readonly files: FileStore;
  readonly fileLinks: FileLinks;
  /** For addresses that senders of tasks chose. */
  readonly fetchFile: GuardedFetch;
}

interface AttemptFilesOptions {
  readonly ports: FilePorts;
  readonly attempt: RunningAttempt;
  /** Number of the attempt. */
  readonly number: number;
  /** How long the attempt may run. */
  readonly timeoutMs: number;
  readonly log: AgentLog;
}

/** Attachments of one task: of the one that runs, or of a message that went into it. */
export interface BroughtFiles {
  readonly task: string;
  readonly attachments: readonly Attachment[];
}

const FETCHES_AT_ONCE = 4;

/**
 * AttemptFiles is responsible for the files of one attempt: those that its task and messages bring, which it fetches first where they are
 * only addresses, and those that its agent makes.
 */
export class AttemptFiles implements RunnerFiles {
  readonly #options: AttemptFilesOptions;
  readonly #by: FileAttempt;
  /** What the task and the messages of its prompt bring. */
  attachments: readonly AgentAttachment[] = [];

  constructor(options: AttemptFilesOptions) {
    const { tenant, id } = options.attempt.ref;
    this.#options = options;
    this.#by = { tenant, task: id, attempt: options.number, lease: options.attempt.member };
  }

  /** Makes the attachments of the prompt ready. Errors: FILES_UNAVAILABLE, RESOURCE_NOT_FOUND, PERMISSION_DENIED, INVALID_INPUT. */
  async prepare(brought: readonly BroughtFiles[]): Promise<void> {
    if (brought.every(({ attachments }) => attachments.length === 0)) return;
    this.attachments = await this.open(brought);
  }

  /** The same for a message that arrived while the agent runs. Names are unique among those of one call. */
  async open(brought: readonly BroughtFiles[]): Promise<AgentAttachment[]> {
    const places = brought.flatMap(({ task, attachments }) => attachments.map((attachment, place) => ({ task, attachment, place })));
    const names = uniqueNames(places.map(({ attachment }) => attachment.name));
    const fetched = await this.#listFetched(places.map(({ attachment }) => attachment));
    const files = await pMap(places, (each) => this.#stored(each, fetched), { concurrency: FETCHES_AT_ONCE });
    return files.map((file, at) => this.#attachmentOf({ ...file, name: names[at] ?? file.name }));
  }

  /** Errors: OUTPUT_TOO_LARGE, FILES_UNAVAILABLE. */
  async attach(name: string, data: string | Uint8Array | FileSource, mediaType?: string): Promise<void> {
    const clean = cleanFileName(name);
    const type = mediaType === undefined ? mediaTypeOfName(clean) : cleanMediaType(mediaType);
    await this.#keep(clean, type, typeof data === 'string' || data instanceof Uint8Array ? once(Buffer.from(data)) : data);
  }

  async bringIn(folder: string): Promise<void> {
    for (const { name, stream } of this.attachments) {
      await pipeline(await stream(), createWriteStream(join(folder, name), { flags: 'wx', mode: 0o600 }));
    }
  }

  /** A file that does not fit is left out with a warning: what the agent answered counts all the same. */
  async takeOut(left: readonly OutputFile[]): Promise<void> {
    const { maxFileBytes, maxPerTask } = this.#options.ports.files.settings;
    const names = uniqueNames(left.slice(0, maxPerTask).map(({ name }) => cleanFileName(name.replaceAll('/', '-'))));
    if (left.length > maxPerTask) this.#warn(`${left.length - maxPerTask} files`, `a task keeps ${maxPerTask}`);
    for (const [at, name] of names.entries()) {
      const file = left[at];
      if (file === undefined || file.bytes > maxFileBytes) this.#warn(name, `it has more than ${maxFileBytes} bytes`);
      else await this.#takeFile(name, file);
    }
  }

  /** An address to which the agent can PUT artifacts, each below it by its name, while the attempt runs. */
  async uploadUrl(): Promise<string> {
    const { fileLinks } = this.#options.ports;
    return await fileLinks.address({ may: 'put', ...this.#by, until: this.#linksUntil });
  }

  async #takeFile(name: string, file: OutputFile): Promise<void> {
    const handle = await file.open();
    try {
      await this.#keep(name, mediaTypeOfName(name), handle.createReadStream({ autoClose: false }));
    } catch (error) {
      if (!(error instanceof TaskFailure) || error.code !== 'OUTPUT_TOO_LARGE') throw error;
      this.#warn(name, error.message);
    } finally {
      await handle.close();
    }
  }

  #warn(name: string, reason: string): void {
    this.#options.log.warn({ event: 'artifact.left-out', name, reason }, `not kept: ${name} (${reason})`);
  }

  async #keep(name: string, mediaType: string, source: FileSource): Promise<void> {
    const { attempt, ports } = this.#options;
    attempt.throwIfStopped();
    try {
      await ports.files.add(this.#by, `out/${name}`, { name, mediaType }, source);
    } catch (error) {
      if (hasCode(error, 'file.attempt-over')) attempt.stop({ kind: 'lease-lost' });
      attempt.throwIfStopped();
      throw failureOfFiles(error);
    }
  }

  async #listFetched(attachments: readonly Attachment[]): Promise<ReadonlyMap<string, StoredFile>> {
    if (attachments.every(({ file }) => file !== null)) return new Map();
    return await this.#options.ports.files.list(this.#by.tenant, this.#by.task, 'in');
  }

  /** An attachment's file; one that is only an address is fetched, once for all attempts. */
  async #stored(
    { task, attachment, place }: { task: string; attachment: Attachment; place: number },
    fetched: ReadonlyMap<string, StoredFile>,
  ): Promise<StoredFile> {
    const { name, mediaType, file, bytes, url } = attachment;
    if (file !== null) return { file, name, mediaType, bytes: bytes ?? 0 };
    const field = task === this.#by.task ? String(place) : `${task}-${place}`;
    return { ...(fetched.get(field) ?? (await this.#fetch(url ?? '', attachment, field))), name };
  }

  async #fetch(url: string, { name, mediaType }: Attachment, field: string): Promise<StoredFile> {
    const { ports, attempt } = this.#options;
    const { fetchMs } = ports.files.settings;
    const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(fetchMs)]);
    try {
      const { source, type } = await fetchAttachment(ports.fetchFile, url, signal);
      return await ports.files.add(this.#by, `in/${field}`, { name, mediaType: type ?? mediaType }, source);
    } catch (error) {
      attempt.throwIfStopped();
      throw signal.aborted
        ? new TaskFailure('FILES_UNAVAILABLE', `"${name}" did not arrive within ${fetchMs} ms`)
        : failureOfFiles(error, name);
    }
  }

  #attachmentOf({ file, name, mediaType, bytes }: StoredFile): AgentAttachment {
    const { files, fileLinks } = this.#options.ports;
    const { tenant } = this.#by;
    const stream = async (): Promise<Readable> => {
      const opened = await files.open({ tenant, file }).catch((error: unknown) => {
        throw failureOfFiles(error, name);
      });
      if (opened === null) throw new TaskFailure('RESOURCE_NOT_FOUND', `The attachment "${name}" is not kept any more`);
      return opened;
    };
    return {
      name,
      mediaType,
      bytes,
      stream,
      read: async () => await readAll(await stream(), Math.max(bytes, files.settings.maxFileBytes)),
      url: () => fileLinks.address({ may: 'get', tenant, file, until: this.#linksUntil }),
    };
  }

  get #linksUntil(): number {
    const { timeoutMs, ports } = this.#options;
    return Date.now() + timeoutMs + ports.files.settings.linkMs;
  }
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

const TOO_LARGE: readonly ErrorCode[] = ['request.too-large', 'limit.storage'];

/** Why a file could not be stored or read, as the failure of an attempt. `name`: of an attachment, whose size its sender chose. */
function failureOfFiles(error: unknown, name?: string): TaskFailure {
  if (error instanceof TaskFailure) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const message = name === undefined ? reason : `"${name}": ${reason}`;
  if (!TOO_LARGE.some((code) => hasCode(error, code))) return new TaskFailure('FILES_UNAVAILABLE', message, { cause: error });
  return new TaskFailure(name === undefined ? 'OUTPUT_TOO_LARGE' : 'INVALID_INPUT', message);
}
