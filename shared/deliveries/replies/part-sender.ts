import { createHash } from 'node:crypto';
import { wait } from '../../time/index.ts';
import type { DeliveryPart } from '../delivery.ts';
import type { HeldDelivery } from '../held-delivery.ts';
import { callPlatform, type ChatPort, DeliveryRefused } from './chat-port.ts';
import { splitText } from './split-text.ts';

export interface SendingOptions {
  held: HeldDelivery;
  port: ChatPort;
  thread: string;
  signal: AbortSignal;
}

interface PartSenderOptions extends SendingOptions {
  /** Messages of an answer that this one interrupted: they become its own. */
  interrupted(): Promise<DeliveryPart[]>;
}

/** The text of a message that the final text does not need any more: a posted message cannot be taken back. */
const SPARE = '…';
const DIGEST_CHARACTERS = 16;

/**
 * PartSender is responsible for the messages of one answer: it posts what is missing, edits what differs and leaves the rest. Each
 * step is in the record before and after it is done, so that another process goes on from there.
 */
export class PartSender {
  readonly #options: PartSenderOptions;
  readonly #maxCharacters: number;
  /** Parts whose message takes no more edits; each is posted again once, with the last text. */
  readonly #lost = new Set<number>();

  constructor(options: PartSenderOptions) {
    this.#options = options;
    this.#maxCharacters = options.port.maxCharacters;
  }

  /** Whether the chat has seen anything. */
  get hasShown(): boolean {
    return this.#parts.some(({ messageId }) => messageId !== null);
  }

  /**
   * Shows a text, in as many parts as it takes. `isFinal`: nothing follows it; parts of an earlier text that it does not need
   * are emptied. `note`: what follows the text, in messages of its own where no message can be edited. Throws `DeliveryRefused`, and
   * `DeliveryLost`.
   */
  async show(text: string, isFinal: boolean, note = ''): Promise<void> {
    const { canEdit } = this.#options.port;
    if (canEdit && this.#parts.length === 0) await this.#takeOver();
    const blocks = canEdit ? [[text, note].filter((each) => each !== '').join('\n\n')] : [text, note];
    const wanted = blocks.flatMap((each) => splitText(each, this.#maxCharacters));
    for (const [index, part] of wanted.entries()) {
      if (!this.#options.signal.aborted || isFinal) await this.#put(index, part, isFinal);
    }
    const spare = isFinal ? this.#parts.slice(wanted.length).filter(({ messageId }) => messageId !== null) : [];
    for (const { index } of spare) await this.#put(index, SPARE, true);
  }

  async #takeOver(): Promise<void> {
    const parts = await this.#options.interrupted();
    if (parts.length > 0) await this.#options.held.save({ parts });
  }

  get #parts(): DeliveryPart[] {
    return this.#options.held.delivery.parts;
  }

  async #put(index: number, text: string, isFinal: boolean): Promise<void> {
    const digest = createHash('sha256').update(text).digest('hex').slice(0, DIGEST_CHARACTERS);
    const known = this.#parts[index];
    if (known?.messageId == null) {
      await this.#post({ index, digest, isFinal }, text);
    } else if (known.digest === digest) {
      if (isFinal !== known.isFinal) await this.#save({ ...known, isFinal });
    } else if (this.#lost.has(index)) {
      if (isFinal && text !== SPARE) await this.#post({ index, digest, isFinal }, text);
    } else if (this.#options.port.canEdit) {
      await this.#edit({ index, digest, isFinal, messageId: known.messageId }, text);
    }
  }

  async #post(part: Omit<DeliveryPart, 'messageId'>, text: string): Promise<void> {
    const { port, thread } = this.#options;
    await this.#save({ ...part, messageId: null, digest: null });
    const { id } = await callPlatform(() => port.post(thread, text));
    await this.#save({ ...part, messageId: id });
  }

  async #edit(part: DeliveryPart & { messageId: string }, text: string): Promise<void> {
    const { port, thread } = this.#options;
    await waitUntilQuiet(this.#options);
    await this.#save({ ...part, digest: null });
    try {
      await callPlatform(() => port.edit(thread, part.messageId, text));
    } catch (error) {
      if (!isGone(error)) throw asRepeatable(error);
      // The message was deleted or takes no more edits. While the text grows, each edit would post it again.
      this.#lost.add(part.index);
      const { messageId: _gone, ...again } = part;
      if (part.isFinal && text !== SPARE) await this.#post(again, text);
      return;
    }
    await this.#save(part);
  }

  async #save(part: DeliveryPart): Promise<void> {
    await this.#options.held.save({ parts: this.#parts.toSpliced(part.index, 1, part) });
  }
}

/** Another answer may change the chat while this one waits. A process that stops does not wait. */
export async function waitUntilQuiet({ port, thread, signal }: Pick<SendingOptions, 'port' | 'thread' | 'signal'>): Promise<void> {
  for (let ms = port.quietMs(thread); ms > 0 && !signal.aborted; ms = port.quietMs(thread)) await wait(ms, signal);
}

/** An edit may be made twice, so it does not matter whether the first one came through. */
function asRepeatable(error: unknown): unknown {
  if (!(error instanceof DeliveryRefused) || error.kind !== 'unknown') return error;
  return new DeliveryRefused('transient', error.message, { cause: error });
}

function isGone(error: unknown): boolean {
  return error instanceof DeliveryRefused && error.kind === 'gone';
}
