import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AttemptFiles as RunnerFiles, OutputListing } from '../../agents/index.ts';
import type { AgentAttachment, AgentLog } from '../../config/index.ts';
import { hasCode, TaskFailure } from '../../errors/index.ts';
import { cleanFileName, cleanMediaType, type FileAttempt, type FileSource, mediaTypeOfName, uniqueNames } from '../../files/index.ts';
import { AttachmentOpener, type BroughtFiles, type FilePorts } from './attachment-opener.ts';
import { failureOfFiles } from './file-failure.ts';
import type { RunningAttempt } from './running-attempt.ts';

interface AttemptFilesOptions {
  readonly ports: FilePorts;
  readonly attempt: RunningAttempt;
  /** Number of the attempt. */
  readonly number: number;
  /** How long the attempt may run. */
  readonly timeoutMs: number;
  readonly log: AgentLog;
}

/**
 * AttemptFiles is responsible for the files of one attempt: those that its task and messages bring, which it fetches first where they are
 * only addresses, and those that its agent makes.
 */
export class AttemptFiles implements RunnerFiles {
  readonly #options: AttemptFilesOptions;
  readonly #by: FileAttempt;
  readonly #opener: AttachmentOpener;
  /** What the task and the messages of its prompt bring. */
  attachments: readonly AgentAttachment[] = [];
  /** All that its agent was given, also with messages while it ran. */
  readonly opened: AgentAttachment[] = [];

  constructor(options: AttemptFilesOptions) {
    const { tenant, id } = options.attempt.ref;
    this.#options = options;
    this.#by = { tenant, task: id, attempt: options.number, lease: options.attempt.member };
    this.#opener = new AttachmentOpener({
      ports: options.ports,
      attempt: options.attempt,
      by: this.#by,
      linksUntil: () => this.#linksUntil,
    });
  }

  /** Makes the attachments of the prompt ready. Errors: FILES_UNAVAILABLE, RESOURCE_NOT_FOUND, PERMISSION_DENIED, INVALID_INPUT. */
  async prepare(brought: readonly BroughtFiles[]): Promise<void> {
    if (brought.every(({ attachments }) => attachments.length === 0)) return;
    this.attachments = await this.open(brought);
  }

  /** The same for a message that arrived while the agent runs. Names are unique among those of one call. */
  async open(brought: readonly BroughtFiles[]): Promise<AgentAttachment[]> {
    const attachments = await this.#opener.open(brought);
    this.opened.push(...attachments);
    return attachments;
  }

  /** What another task brought, as far as it is kept. */
  async openKept(brought: BroughtFiles): Promise<AgentAttachment[]> {
    return await this.#opener.openKept(brought);
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
  async takeOut({ files: left, leftOut }: OutputListing): Promise<void> {
    const { maxFileBytes, maxPerTask } = this.#options.ports.files.settings;
    for (const { name, reason } of leftOut) this.#warn(name, reason);
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

  async #takeFile(name: string, file: OutputListing['files'][number]): Promise<void> {
    try {
      await this.#keep(name, mediaTypeOfName(name), file.read());
    } catch (error) {
      if (!(error instanceof TaskFailure) || error.code !== 'OUTPUT_TOO_LARGE') throw error;
      this.#warn(name, error.message);
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

  get #linksUntil(): number {
    const { timeoutMs, ports } = this.#options;
    return Date.now() + timeoutMs + ports.files.settings.linkMs;
  }
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}
