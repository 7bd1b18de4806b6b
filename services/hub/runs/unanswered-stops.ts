import { type AttemptName, attemptKey, type HubMessageToSend } from '#shared/daemons/index.ts';

interface UnansweredStopsOptions {
  /** Between two sendings of a stop, ms. */
  resendMs: number;
  send: (message: HubMessageToSend) => void;
  /** An attempt has left its slot. */
  onAnswered: () => void;
}

/**
 * UnansweredStops is responsible for attempts that ended here before their daemon answered the stop: each keeps its slot, and its daemon
 * gets the stop again, until the answer comes or the connection ends.
 */
export class UnansweredStops {
  readonly #options: UnansweredStopsOptions;
  /** By attempt, with what sends its stop again. */
  readonly #stops = new Map<string, NodeJS.Timeout>();

  constructor(options: UnansweredStopsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#stops.size;
  }

  add({ taskId, token }: AttemptName, reason: string): void {
    const { resendMs, send } = this.#options;
    const resend = (): void => send({ type: 'task.cancel', taskId, token, reason });
    this.#stops.set(attemptKey({ taskId, token }), setInterval(resend, resendMs));
  }

  /** The daemon reported the end of an attempt. */
  answer(key: string): void {
    if (!this.#stops.has(key)) return;
    clearInterval(this.#stops.get(key));
    this.#stops.delete(key);
    this.#options.onAnswered();
  }

  /** The connection ended: what the daemon still runs, it names in the hello of its next one. */
  clear(): void {
    for (const timer of this.#stops.values()) clearInterval(timer);
    this.#stops.clear();
  }
}
