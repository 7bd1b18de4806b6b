import type { AgentRun } from '#shared/agents/index.ts';
import type { AttemptName, HubMessageToSend } from '#shared/daemons/index.ts';

interface RemoteQuestionOptions {
  name: AttemptName;
  checkpoint: AgentRun['checkpoint'];
  send: (message: HubMessageToSend) => void;
}

/**
 * RemoteQuestion is responsible for what an attempt on a daemon asks people while it goes on: it waits for the answer to what was asked last, and
 * gives the answer again where the daemon asks again.
 */
export class RemoteQuestion {
  readonly #options: RemoteQuestionOptions;
  #asked = 0;
  #answered: { seq: number; answer: string | null } = { seq: 0, answer: null };
  #isAwaiting = false;
  #isClosed = false;
  #waiting = new AbortController();

  constructor(options: RemoteQuestionOptions) {
    this.#options = options;
  }

  /** The daemon asks. A newer question takes the place of one that nobody has answered. */
  receive(seq: number): void {
    if (seq === this.#answered.seq) return this.#sendAnswer();
    if (this.#isClosed || seq <= this.#asked) return;
    this.#asked = seq;
    this.#waiting.abort();
    if (!this.#isAwaiting) void this.#awaitAnswers();
  }

  /** The attempt has ended here. What is open stays open. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.abort();
  }

  async #awaitAnswers(): Promise<void> {
    this.#isAwaiting = true;
    while (!this.#isClosed && this.#answered.seq < this.#asked) {
      const { signal } = (this.#waiting = new AbortController());
      const seq = this.#asked;
      // The run is suspended at what cannot be asked now, or fails there, once the attempt has ended.
      const answer = (await this.#options.checkpoint?.askFor?.(signal).catch(() => null)) ?? null;
      if (signal.aborted) continue;
      this.#answered = { seq, answer };
      this.#sendAnswer();
    }
    this.#isAwaiting = false;
  }

  #sendAnswer(): void {
    const { send, name } = this.#options;
    const { seq, answer } = this.#answered;
    send({ type: 'task.answer', ...name, seq, ...(answer === null ? {} : { answer }) });
  }
}
