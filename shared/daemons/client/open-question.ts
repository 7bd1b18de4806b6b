import { TaskFailure } from '../../errors/index.ts';
import type { HubMessage } from '../protocol.ts';
import type { AttemptReport } from './attempts/attempt-report.ts';

interface OpenQuestionOptions {
  readonly report: Pick<AttemptReport, 'setAsk'>;
  /** How long an answer is waited for, ms; 0 where the hub takes no questions of attempts that go on. */
  readonly askMs: number;
  /** Of the attempt. */
  readonly signal: AbortSignal;
  /** There is something to send. */
  readonly onChange: () => void;
}

/** OpenQuestion is responsible for what a handler asks people while it goes on, one thing at a time: each hub gets it again until an answer is there. */
export class OpenQuestion {
  readonly #options: OpenQuestionOptions;
  #seq = 0;
  #answered: PromiseWithResolvers<string | null> | null = null;

  constructor(options: OpenQuestionOptions) {
    this.#options = options;
  }

  /** See `DaemonContext.askPeople`. */
  async ask(given: AbortSignal): Promise<string | null> {
    const { report, askMs, onChange } = this.#options;
    if (this.#answered) throw new TaskFailure('AGENT_ERROR', 'A handler asks people one thing at a time');
    const signal = AbortSignal.any([given, this.#options.signal]);
    if (askMs === 0 || signal.aborted) return null;
    const answered = Promise.withResolvers<string | null>();
    const giveUp = (): void => answered.resolve(null);
    // Also while no hub is there.
    const timer = setTimeout(giveUp, askMs);
    signal.addEventListener('abort', giveUp, { once: true });
    this.#answered = answered;
    this.#seq += 1;
    report.setAsk(this.#seq);
    onChange();
    try {
      return await answered.promise;
    } finally {
      clearTimeout(timer);
      this.#answered = null;
      report.setAsk(null);
    }
  }

  /** Takes an answer of a hub. One that is sent twice counts once. */
  receive({ seq, answer }: HubMessage<'task.answer'>): void {
    if (seq === this.#seq) this.#answered?.resolve(answer ?? null);
  }
}
