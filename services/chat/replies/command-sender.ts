import { type ChatPort, DeliveryRefused } from '#shared/deliveries/index.ts';
import type { Log } from '#shared/log/index.ts';
import { ellipsize } from '#shared/text/index.ts';
import { wait, within } from '#shared/time/index.ts';

export interface CommandSenderOptions {
  log: Log;
  /** Calls spent on one answer. */
  tries: number;
}

type Answering = Pick<ChatPort, 'platform' | 'maxCharacters' | 'post'>;

/** Bound of concurrent answers; a further answer is dropped and logged. */
const MAX_IN_FLIGHT = 500;
/** Between two tries, when the platform names no time. */
const RETRY_MS = 1000;
/** An answer is dropped when the platform throttles for longer, because it would come too late. */
const MAX_WAIT_MS = 30_000;

/**
 * CommandSender is responsible for the answers to commands, so that `/stop` is answered while the queue of deliveries is full. An answer
 * is tried a few times and then dropped; the command itself has run.
 */
export class CommandSender {
  readonly #log: Log;
  readonly #tries: number;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor({ log, tries }: CommandSenderOptions) {
    this.#log = log;
    this.#tries = tries;
  }

  /** Begins to send and returns: the platform that brought the command waits for its own answer. */
  send(port: Answering, thread: string, text: string): void {
    if (this.#inFlight.size >= MAX_IN_FLIGHT) {
      this.#log.warn({ event: 'chat.answer-dropped', platform: port.platform }, 'too many answers to commands are on their way');
      return;
    }
    const sending = this.#send(port, thread, ellipsize(text, port.maxCharacters)).finally(() => this.#inFlight.delete(sending));
    this.#inFlight.add(sending);
  }

  /** Waits for answers on their way, without further tries. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort();
    await within(Promise.all(this.#inFlight), graceMs);
  }

  async #send(port: Answering, thread: string, text: string): Promise<void> {
    for (let left = this.#tries; left > 0; left -= 1) {
      const waitMs = await this.#tryOnce(port, thread, text);
      if (waitMs === null || !(await wait(waitMs, this.#stopping.signal))) return;
    }
    this.#log.warn({ event: 'chat.answer-dropped', platform: port.platform, thread }, 'a command ran and its answer was not delivered');
  }

  /** How long to wait before the next try; null for none. */
  async #tryOnce(port: Answering, thread: string, text: string): Promise<number | null> {
    try {
      await port.post(thread, text, { isPlain: true });
      return null;
    } catch (error) {
      const { kind, retryAfterMs = RETRY_MS } = error instanceof DeliveryRefused ? error : { kind: 'transient' as const };
      if ((kind === 'throttled' || kind === 'transient') && retryAfterMs <= MAX_WAIT_MS) return retryAfterMs;
      this.#log.warn({ event: 'chat.answer-dropped', platform: port.platform, thread, kind }, 'an answer to a command was refused');
      return null;
    }
  }
}
