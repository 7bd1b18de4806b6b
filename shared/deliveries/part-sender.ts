import { createHash } from 'node:crypto';
import type { DeliverySettings } from '../config/delivery-settings.ts';
import type { Clock } from '../time/clock.ts';
import { wait } from '../time/wait.ts';
import { callPlatform } from './call-platform.ts';
import { DeliveryRefused, type ChatPort } from './chat-port.ts';
import type { DeliveryPart } from './delivery.ts';
import type { HeldDelivery } from './held-delivery.ts';
import { splitText } from './split-text.ts';

export interface PartSenderOptions {
  held: HeldDelivery;
  port: ChatPort;
  thread: string;
  settings: DeliverySettings;
  clock: Clock;
  signal: AbortSignal;
}

/** What is left in a message that the final text does not need any more: nothing can be taken back. */
const SPARE = '…';
const DIGEST_CHARACTERS = 16;

/**
 * PartSender is responsible for making the messages of a chat what they should be: posted when they are not there, edited when
 * they are, left alone when they say it already. Each step is in the record before it is done and after, so that another process
 * goes on from there.
 */
export class PartSender {
  readonly #options: PartSenderOptions;
  readonly #most: number;
  /** When each part was changed last, monotonic ms. */
  readonly #changedAt = new Map<number, number>();

  constructor(options: PartSenderOptions) {
    this.#options = options;
    this.#most = options.port.maxCharacters;
  }

  /** Whether the chat has seen anything. */
  get hasShown(): boolean {
    return this.#parts.some(({ messageId }) => messageId !== null);
  }

  /**
   * Shows a text, in as many parts as it takes. `isFinal`: nothing follows it; parts of an earlier text that it does not need
   * are emptied. Throws `DeliveryRefused`, and `DeliveryLost`.
   */
  async show(text: string, isFinal: boolean): Promise<void> {
    const wanted = splitText(text, this.#most);
    for (const [index, part] of wanted.entries()) {
      // Of a part that is followed by another one nothing is expected to change.
      if (!this.#options.signal.aborted || isFinal) await this.#put(index, part, isFinal);
    }
    const spare = isFinal ? this.#parts.slice(wanted.length).filter(({ messageId }) => messageId !== null) : [];
    for (const { index } of spare) await this.#put(index, SPARE, true);
  }

  /** How long until the last message may be changed again. */
  quietMs(): number {
    return Math.max(0, ...[...this.#changedAt.keys()].slice(-1).map((index) => this.#quietMsOf(index)));
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
    } else if (this.#options.port.minEditMs !== null) {
      await this.#edit({ index, digest, isFinal, messageId: known.messageId }, text);
    }
  }

  async #post(part: Omit<DeliveryPart, 'messageId'>, text: string): Promise<void> {
    const { port, thread, settings } = this.#options;
    await this.#save({ ...part, messageId: null, digest: null });
    const { id } = await callPlatform(() => port.post(thread, text), settings.callTimeoutMs);
    this.#changedAt.set(part.index, this.#options.clock.monotonic());
    await this.#save({ ...part, messageId: id });
  }

  async #edit(part: DeliveryPart & { messageId: string }, text: string): Promise<void> {
    const { port, thread, settings, signal } = this.#options;
    await wait(this.#quietMsOf(part.index), signal);
    await this.#save({ ...part, digest: null });
    this.#changedAt.set(part.index, this.#options.clock.monotonic());
    try {
      await callPlatform(() => port.edit(thread, part.messageId, text), settings.callTimeoutMs);
    } catch (error) {
      if (!isGone(error)) throw asRepeatable(error);
      // Somebody deleted the message, or it cannot be changed any more: the answer is still owed. A chat that is gone takes no post either.
      const { messageId: _gone, ...again } = part;
      await this.#post(again, text);
      return;
    }
    await this.#save(part);
  }

  #quietMsOf(index: number): number {
    const { port, clock } = this.#options;
    const changedAt = this.#changedAt.get(index);
    return changedAt === undefined ? 0 : Math.max(0, changedAt + (port.minEditMs ?? 0) - clock.monotonic());
  }

  async #save(part: DeliveryPart): Promise<void> {
    await this.#options.held.save({ parts: this.#parts.toSpliced(part.index, 1, part) });
  }
}

/** An edit may be made twice, so it does not matter whether the first one came through. */
function asRepeatable(error: unknown): unknown {
  if (!(error instanceof DeliveryRefused) || error.kind !== 'unknown') return error;
  return new DeliveryRefused('transient', error.message, { cause: error });
}

function isGone(error: unknown): boolean {
  return error instanceof DeliveryRefused && error.kind === 'gone';
}
