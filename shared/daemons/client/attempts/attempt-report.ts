import { ellipsize } from '../../../text/index.ts';
import type { AttemptName } from '../../attempt-name.ts';
import type { DaemonMessageToSend } from '../../protocol.ts';
import { type FinalMessage, messageBytes } from '../final-message.ts';
import { OutputBuffer, type OutputEntry } from '../output-buffer.ts';
import { type Usage, withSumOnly } from '../usage.ts';

/** What is on disk of an attempt that ended, until the hub has acknowledged it. */
export interface FinishedAttempt {
  readonly final: FinalMessage;
  readonly output: readonly OutputEntry[];
}

/** Heartbeats that the hub has for acknowledging an end. */
const BEATS_TO_ACKNOWLEDGE = 2;

/** Characters of a note: a larger message than the hub takes ends the connection. */
const MAX_NOTE = 2000;

/** What the hub takes of an attempt, and what is kept for it. */
export interface ReportBounds {
  /** Characters of output. */
  readonly maxOutput: number;
  /** Bytes of a message; each hub has its own bound. */
  readonly maxMessageBytes: () => number;
}

interface Progress {
  readonly note: string;
  readonly percent?: number;
}

/** AttemptReport is responsible for what the hub has to receive of one attempt: its progress, its usage, its output, its question, and its end after all output. */
export class AttemptReport {
  readonly name: AttemptName;
  readonly #bounds: ReportBounds;
  readonly #output: OutputBuffer;
  #final: FinalMessage | null;
  #sentSeq = 0;
  #isFinalSent = false;
  #beatsSinceFinal = 0;
  #progress: Progress | null = null;
  #isProgressSent = true;
  #usage: Usage | null = null;
  #isUsageSent = true;
  /** The question that is open. */
  #ask: number | null = null;
  #isAskSent = true;

  constructor(name: AttemptName, bounds: ReportBounds, finished?: FinishedAttempt) {
    this.name = { taskId: name.taskId, token: name.token };
    this.#bounds = bounds;
    this.#output = new OutputBuffer(bounds.maxOutput, finished?.output);
    this.#final = finished?.final ?? null;
  }

  write(text: string): void {
    this.#output.write(text);
  }

  setProgress(progress: Progress): void {
    this.#progress = { ...progress, note: ellipsize(progress.note, MAX_NOTE) };
    this.#isProgressSent = false;
  }

  /** Replaces what it has used so far. */
  setUsage(total: Usage): void {
    this.#usage = total;
    this.#isUsageSent = false;
  }

  /** The hub does not take it; another one may. */
  skipUsage(): void {
    this.#isUsageSent = true;
  }

  /** The question that people are asked now, by its number; null for none. */
  setAsk(seq: number | null): void {
    this.#ask = seq;
    this.#isAskSent = seq === null;
  }

  /** Its end; null while it runs. */
  get final(): FinalMessage | null {
    return this.#final;
  }

  /** All output that is kept. */
  output(): readonly OutputEntry[] {
    return this.#output.entries();
  }

  /** No output may follow. */
  end(final: FinalMessage): void {
    this.#final = final;
  }

  /** Sends its end again. */
  repeatEnd(): void {
    this.#isFinalSent = false;
    this.#beatsSinceFinal = 0;
  }

  /** Called at every heartbeat: an end that is not acknowledged for so long is sent again. */
  beat(): void {
    if (!this.#isFinalSent) return;
    this.#beatsSinceFinal += 1;
    if (this.#beatsSinceFinal > BEATS_TO_ACKNOWLEDGE) this.repeatEnd();
  }

  /** A hub that has its output up to `seq` goes on with it. */
  resume(seq: number): void {
    this.#sentSeq = seq;
    this.repeatEnd();
    this.#isProgressSent = this.#progress === null;
    this.#isUsageSent = this.#usage === null;
    this.#isAskSent = this.#ask === null;
  }

  /** The next message for the hub, which counts as sent from now on; null when there is none. */
  next(): DaemonMessageToSend | null {
    const entry = this.#output.after(this.#sentSeq);
    if (entry !== null) {
      this.#sentSeq = entry.seq;
      return { type: 'task.output', ...this.name, ...entry };
    }
    if (this.#final !== null) {
      if (this.#isFinalSent) return null;
      this.#isFinalSent = true;
      return this.#final;
    }
    return this.#nextState();
  }

  #nextState(): DaemonMessageToSend | null {
    if (this.#ask !== null && !this.#isAskSent) {
      this.#isAskSent = true;
      return { type: 'task.ask', ...this.name, seq: this.#ask };
    }
    if (this.#progress !== null && !this.#isProgressSent) {
      this.#isProgressSent = true;
      return { type: 'task.progress', ...this.name, ...this.#progress };
    }
    if (this.#usage === null || this.#isUsageSent) return null;
    this.#isUsageSent = true;
    const message = { type: 'task.usage', ...this.name, usage: this.#usage } as const;
    return messageBytes(message) > this.#bounds.maxMessageBytes() ? withSumOnly(message) : message;
  }
}
