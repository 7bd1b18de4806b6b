import type { DeliverySettings } from '../config/index.ts';
import type { Clock } from '../time/index.ts';
import type { ChatPort } from './chat-port.ts';

/** Threads remembered; more forget the ones that were shown longest ago. */
const MOST_THREADS = 10_000;

/**
 * TypingSigns is responsible for showing in a chat that an answer is coming, no more often than its platform needs, however many
 * messages of one thread wait. A sign that fails is nobody's loss.
 */
export class TypingSigns {
  readonly #settings: DeliverySettings;
  readonly #clock: Clock;
  /** Thread -> when it was shown, the oldest first. */
  readonly #shown = new Map<string, number>();

  constructor(settings: DeliverySettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  /** How long a sign holds on this platform. */
  everyMs({ platform }: ChatPort): number {
    return this.#settings.typingMsByPlatform[platform] ?? this.#settings.typingMs;
  }

  /** Shows one if the last does not hold any more. Does not wait for the platform. */
  show(port: ChatPort, thread: string): void {
    const name = `${port.platform} ${thread}`;
    const now = this.#clock.monotonic();
    if (now - (this.#shown.get(name) ?? Number.NEGATIVE_INFINITY) < this.everyMs(port)) return;
    this.#shown.delete(name);
    this.#shown.set(name, now);
    const [oldest] = this.#shown.keys();
    if (this.#shown.size > MOST_THREADS && oldest !== undefined) this.#shown.delete(oldest);
    void sign(port, thread);
  }
}

async function sign(port: ChatPort, thread: string): Promise<void> {
  try {
    await port.startTyping(thread);
  } catch {
    // The answer itself will tell whether the chat can be reached.
  }
}
