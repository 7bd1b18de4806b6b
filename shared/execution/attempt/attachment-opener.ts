import type { Readable } from 'node:stream';
import pMap from 'p-map';
import type { GuardedFetch } from '../../agents/index.ts';
import type { AgentAttachment } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import {
  type Attachment,
  type FileAttempt,
  type FileLinks,
  type FileStore,
  readAll,
  type StoredFile,
  uniqueNames,
} from '../../files/index.ts';
import { fetchAttachment } from './fetch-attachment.ts';
import { failureOfFiles } from './file-failure.ts';
import type { RunningAttempt } from './running-attempt.ts';

export interface FilePorts {
  readonly files: FileStore;
  readonly fileLinks: FileLinks;
  /** For addresses that senders of tasks chose. */
  readonly fetchFile: GuardedFetch;
}

interface AttachmentOpenerOptions {
  readonly ports: FilePorts;
  readonly attempt: RunningAttempt;
  /** The attempt, for the files that it fetches. */
  readonly by: FileAttempt;
  /** When an address of a file that is made now expires, ms since the epoch. */
  readonly linksUntil: () => number;
}

/** Attachments of one task: of the one that runs, or of a message that went into it. */
export interface BroughtFiles {
  readonly task: string;
  readonly attachments: readonly Attachment[];
}

const FETCHES_AT_ONCE = 4;

/**
 * AttachmentOpener is responsible for the attachments that an agent reads: it fetches those that are only addresses, and gives each a name
 * of its own.
 */
export class AttachmentOpener {
  readonly #options: AttachmentOpenerOptions;

  constructor(options: AttachmentOpenerOptions) {
    this.#options = options;
  }

  /** Errors: FILES_UNAVAILABLE, RESOURCE_NOT_FOUND, PERMISSION_DENIED, INVALID_INPUT. */
  async open(brought: readonly BroughtFiles[]): Promise<AgentAttachment[]> {
    const places = brought.flatMap(({ task, attachments }) => attachments.map((attachment, place) => ({ task, attachment, place })));
    const names = uniqueNames(places.map(({ attachment }) => attachment.name));
    const fetched = await this.#listFetched(places.map(({ attachment }) => attachment));
    const files = await pMap(places, (each) => this.#stored(each, fetched), { concurrency: FETCHES_AT_ONCE });
    return files.map((file, at) => this.#attachmentOf({ ...file, name: names[at] ?? file.name }));
  }

  /** Attachments of other tasks. One that is only an address counts where it was fetched. */
  async openKept({ task, attachments }: BroughtFiles): Promise<AgentAttachment[]> {
    const { ports, by } = this.#options;
    const stored = attachments.flatMap(({ file, bytes, ...named }) => (file === null ? [] : [{ ...named, file, bytes: bytes ?? 0 }]));
    const fetched = stored.length === attachments.length ? [] : (await ports.files.list(by.tenant, task, 'in')).values();
    return [...stored, ...fetched].map((file) => this.#attachmentOf(file));
  }

  async #listFetched(attachments: readonly Attachment[]): Promise<ReadonlyMap<string, StoredFile>> {
    if (attachments.every(({ file }) => file !== null)) return new Map();
    const { ports, by } = this.#options;
    return await ports.files.list(by.tenant, by.task, 'in');
  }

  /** The stored file of an attachment. An attachment that is only an address is fetched, once for all attempts. */
  async #stored(
    { task, attachment, place }: { task: string; attachment: Attachment; place: number },
    fetched: ReadonlyMap<string, StoredFile>,
  ): Promise<StoredFile> {
    const { name, mediaType, file, bytes, url } = attachment;
    if (file !== null) return { file, name, mediaType, bytes: bytes ?? 0 };
    const field = task === this.#options.by.task ? String(place) : `${task}-${place}`;
    return { ...(fetched.get(field) ?? (await this.#fetch(url ?? '', attachment, field))), name };
  }

  async #fetch(url: string, { name, mediaType }: Attachment, field: string): Promise<StoredFile> {
    const { ports, attempt, by } = this.#options;
    const { fetchMs } = ports.files.settings;
    const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(fetchMs)]);
    try {
      const { source, type } = await fetchAttachment(ports.fetchFile, url, signal);
      return await ports.files.add(by, `in/${field}`, { name, mediaType: type ?? mediaType }, source);
    } catch (error) {
      attempt.throwIfStopped();
      throw signal.aborted
        ? new TaskFailure('FILES_UNAVAILABLE', `"${name}" did not arrive within ${fetchMs} ms`)
        : failureOfFiles(error, name);
    }
  }

  #attachmentOf({ file, name, mediaType, bytes }: StoredFile): AgentAttachment {
    const { files, fileLinks } = this.#options.ports;
    const { tenant } = this.#options.by;
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
      url: () => fileLinks.address({ may: 'get', tenant, file, until: this.#options.linksUntil() }),
    };
  }
}
