import { readAll, type TaskFile } from '../../files/index.ts';
import type { Task } from '../../tasks/index.ts';
import type { DeliveryFile } from '../delivery.ts';
import type { DeliveryContext } from '../held-delivery.ts';
import { callPlatform, DeliveryRefused, type OutgoingFile } from './chat-port.ts';
import { type SendingOptions, waitUntilQuiet } from './part-sender.ts';
import { nextAttempt, nextTryOf } from './reply-retries.ts';

/** What the text says of a file that was not sent. */
const REASONS: Readonly<Partial<Record<DeliveryFile['status'], string>>> = {
  refused: 'not sent',
  unknown: 'may not have arrived',
  'left-out': 'not sent, too large or too many',
};
/** Names in one note. */
const MAX_NAMES = 5;

/**
 * FileSender is responsible for the artifacts of one task in its chat: each is sent at most once. Its record changes before and after, and a
 * file whose process died meanwhile is not sent again. A refused file never fails the reply.
 */
export class FileSender {
  readonly #context: DeliveryContext;
  readonly #options: SendingOptions;
  readonly #artifacts: ReadonlyMap<string, TaskFile>;

  /** Chooses the files of a completed task within the bounds, once for its delivery. Throws `DeliveryRefused`, and `DeliveryLost`. */
  static async open(context: DeliveryContext, options: SendingOptions, task: Task): Promise<FileSender> {
    const { tenant, id } = task.body;
    const isComplete = task.state.status === 'completed';
    const artifacts = isComplete ? await context.files.list(tenant, id, 'out') : new Map<string, TaskFile>();
    const { held, port } = options;
    if (held.delivery.files === undefined && artifacts.size > 0) {
      const { maxFiles, maxFileBytes } = context.ledger.settings.deliveries;
      const bounds = port.sendFile === undefined ? { maxFiles: 0, maxBytes: 0 } : { maxFiles, maxBytes: maxFileBytes };
      await held.save({ files: chooseFiles(artifacts, bounds) });
    }
    return new FileSender(context, options, artifacts);
  }

  private constructor(context: DeliveryContext, options: SendingOptions, artifacts: ReadonlyMap<string, TaskFile>) {
    this.#context = context;
    this.#options = options;
    this.#artifacts = artifacts;
  }

  get hasAny(): boolean {
    return this.#files.length > 0;
  }

  /** A line that names the files that were not sent; empty for none. */
  note(): string {
    const missing = this.#files.flatMap(({ name, status }) => {
      const reason = REASONS[status];
      return reason === undefined ? [] : [`\`${name.replaceAll('`', "'")}\` (${reason})`];
    });
    if (missing.length === 0) return '';
    const more = missing.length > MAX_NAMES ? ` and ${missing.length - MAX_NAMES} more` : '';
    return `Files: ${missing.slice(0, MAX_NAMES).join(', ')}${more}`;
  }

  /** Sends what is pending, in order. False when the process stops first. Throws `DeliveryRefused` for a later try, and `DeliveryLost`. */
  async send(): Promise<boolean> {
    for (const [index, file] of this.#files.entries()) {
      if (file.status === 'sending') await this.#miss(index, new DeliveryRefused('unknown', 'The process died while it was sent'));
      if (file.status !== 'pending') continue;
      await waitUntilQuiet(this.#options);
      if (this.#options.signal.aborted) return false;
      await this.#sendFile(index, file);
    }
    return true;
  }

  get #files(): readonly DeliveryFile[] {
    return this.#options.held.delivery.files ?? [];
  }

  async #sendFile(index: number, { name }: DeliveryFile): Promise<void> {
    const { port, thread } = this.#options;
    try {
      const file = await callPlatform(() => this.#read(name));
      await this.#save(index, { status: 'sending' });
      const sent = await callPlatform(async () => await port.sendFile?.(thread, file));
      await this.#save(index, { status: 'sent', messageId: sent?.id ?? null });
    } catch (error) {
      if (!(error instanceof DeliveryRefused)) throw error;
      await this.#handleRefusal(index, error);
    }
  }

  async #read(name: string): Promise<OutgoingFile> {
    const artifact = this.#artifacts.get(name);
    const { tenant } = this.#options.held.delivery;
    const bytes = artifact && (await this.#context.files.open({ tenant, file: artifact.file }));
    if (!artifact || !bytes) throw new DeliveryRefused('gone', 'The file is not kept any more');
    return { name, mediaType: artifact.mediaType, data: await readAll(bytes, artifact.bytes) };
  }

  /** A file that can be tried again takes the whole delivery with it; the last try only names it. */
  async #handleRefusal(index: number, refused: DeliveryRefused): Promise<void> {
    const { delivery } = this.#options.held;
    const mayRetry = refused.kind === 'transient' || refused.kind === 'throttled';
    if (!mayRetry || nextTryOf(this.#context, delivery, nextAttempt(this.#context, delivery, refused)) === null) {
      await this.#miss(index, refused);
      return;
    }
    await this.#save(index, { status: 'pending' });
    throw refused;
  }

  async #miss(index: number, { kind, message }: DeliveryRefused): Promise<void> {
    const { id, tenant, task, platform } = this.#options.held.delivery;
    await this.#save(index, { status: kind === 'unknown' ? 'unknown' : 'refused' });
    const fields = { event: 'delivery.file-not-sent', delivery: id, tenant, task, platform, file: this.#files[index]?.name, kind };
    this.#context.log.warn({ ...fields, reason: message }, 'a file of a reply was not sent; its text names it');
  }

  async #save(index: number, change: Partial<DeliveryFile>): Promise<void> {
    const files = this.#files.map((file, place) => (place === index ? { ...file, ...change } : file));
    await this.#options.held.save({ files });
  }
}

function chooseFiles(
  artifacts: ReadonlyMap<string, TaskFile>,
  { maxFiles, maxBytes }: { maxFiles: number; maxBytes: number },
): DeliveryFile[] {
  let count = 0;
  let total = 0;
  return [...artifacts].map(([name, { bytes }]) => {
    const fits = count < maxFiles && total + bytes <= maxBytes;
    if (fits) {
      count += 1;
      total += bytes;
    }
    return { name, status: fits ? 'pending' : 'left-out', messageId: null };
  });
}
