import type { Readable } from 'node:stream';
import type { CommandSettings } from '../../config/index.ts';
import type { CommandRun } from './command-run.ts';

/** After an answer a program may begin to work again, and is quiet while its tools or its model do: so long it is left to it, ms. */
const WORK_MS = 60_000;

interface WatchedCommand {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly stop: () => void;
}

/**
 * CommandWatch is responsible for ending a program that does not end by itself: one that has answered, as coding agents do whose tools hold
 * them open, and one that writes nothing for `silenceMs`.
 */
export class CommandWatch {
  readonly #command: WatchedCommand;
  readonly #settings: Pick<CommandSettings, 'answeredMs'>;
  readonly #silenceMs: number | undefined;
  #ended: 'answered' | 'silent' | null = null;
  #hasAnswered = false;
  #isFed: boolean;
  #isWaiting = false;
  #answerTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;

  constructor(command: WatchedCommand, { definition }: Pick<CommandRun, 'definition'>, settings: Pick<CommandSettings, 'answeredMs'>) {
    this.#command = command;
    this.#settings = settings;
    this.#silenceMs = definition.silenceMs;
    this.#isFed = definition.takesInput !== true;
    if (this.#silenceMs === undefined) return;
    this.#silenceTimer = setTimeout(() => this.#beSilent(), this.#silenceMs);
    for (const stream of [command.stdout, command.stderr]) stream.on('data', () => this.#silenceTimer?.refresh());
  }

  /** Why it ended the program; null when it did not. */
  get ended(): 'answered' | 'silent' | null {
    return this.#ended;
  }

  /** It has answered, and may end. */
  answer(): void {
    this.#hasAnswered = true;
    this.#endIn(this.#settings.answeredMs);
  }

  /** It does something. */
  work(): void {
    if (this.#hasAnswered) this.#endIn(Math.max(WORK_MS, this.#settings.answeredMs));
  }

  /** It is quiet while people are asked, and then no more. */
  wait(isWaiting: boolean): void {
    this.#isWaiting = isWaiting;
    this.#silenceTimer?.refresh();
  }

  /** It gets no more messages. */
  feedEnded(): void {
    this.#isFed = true;
    if (this.#hasAnswered) this.#endIn(this.#settings.answeredMs);
  }

  close(): void {
    clearTimeout(this.#answerTimer);
    clearTimeout(this.#silenceTimer);
  }

  #beSilent(): void {
    if (this.#isWaiting) this.#silenceTimer?.refresh();
    else this.#end('silent');
  }

  #endIn(ms: number): void {
    clearTimeout(this.#answerTimer);
    if (this.#isFed) this.#answerTimer = setTimeout(() => this.#end('answered'), ms);
  }

  #end(why: 'answered' | 'silent'): void {
    this.#ended ??= this.#hasAnswered ? 'answered' : why;
    this.#command.stop();
  }
}
