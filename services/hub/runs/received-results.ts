import { type AttemptName, attemptKey, type HubMessageToSend } from '#shared/daemons/index.ts';
import { type Ledger, readState, type Transition } from '#shared/ledger/index.ts';
import type { Report } from './remote-attempt.ts';

export interface ReceivedResultsOptions {
  tenant: string;
  /** The id of the daemon. */
  daemon: string;
  ledger: Ledger;
  send: (message: HubMessageToSend) => void;
}

/** ReceivedResults is responsible for the results that a daemon sent, until each is acknowledged. */
export class ReceivedResults {
  readonly #options: ReceivedResultsOptions;
  /** Keys of the attempts whose results arrived and are being settled. */
  readonly #settling = new Set<string>();

  constructor(options: ReceivedResultsOptions) {
    this.#options = options;
  }

  isSettling(key: string): boolean {
    return this.#settling.has(key);
  }

  /** The attempt settles this result. */
  add(key: string): void {
    this.#settling.add(key);
  }

  /** Acknowledges the attempt's result, if it has one. */
  onSettled(name: AttemptName, settled: Transition | 'lost'): void {
    if (this.#settling.delete(attemptKey(name))) this.#acknowledge(name, settled === 'lost' ? 'refused' : 'kept');
  }

  /** Acknowledges a result whose attempt has ended here: the daemon sent it twice, or too late. */
  async acknowledgeLate({ type, taskId, token }: Report): Promise<void> {
    const { tenant, daemon, ledger } = this.#options;
    const state = await readState(ledger, tenant, taskId).catch(() => undefined);
    // Redis is away: the ledger is read when the daemon sends the result again.
    if (state === undefined) return;
    const isKept = type === 'task.completed' && state?.token === token && state.daemon === daemon && state.status === 'completed';
    this.#acknowledge({ taskId, token }, isKept ? 'kept' : 'refused');
  }

  #acknowledge({ taskId, token }: AttemptName, outcome: 'kept' | 'refused'): void {
    this.#options.send({ type: 'task.acknowledged', taskId, token, outcome });
  }
}
