import type { StepWork } from '../../config/index.ts';

/** What a run does once, as its journal keeps it. */
export interface KeptWork {
  readonly kind: 'model' | 'tool' | 'step';
  readonly name: string;
  /** JSON of what it is done with. A later attempt has to come to the same. */
  readonly given?: string;
  /** The number of its entry, where the wait before it took that. */
  readonly at?: number;
}

/** RunJournal is what a runner keeps of its run, so that a later attempt goes on where this one ends. */
export interface RunJournal {
  /** What the run goes by, JSON: what its first attempt made, else what `make` gives. Called before anything else is kept. */
  define(make: () => Promise<unknown>): Promise<unknown>;
  /**
   * Does work once in a run, and keeps what it gives as JSON; a later attempt gets that. What is begun has to be begun in the same order in each
   * attempt. Errors: JOURNAL_MISMATCH, JOURNAL_FULL, STEP_TOO_LARGE, and the failure of the work, also where an earlier attempt met it.
   */
  keep<T>(entry: KeptWork, work: StepWork<T>): Promise<T>;
}

/** Keeps nothing: for a run that a later attempt does from its start. */
export function noJournal(signal: () => AbortSignal): RunJournal {
  return { define: (make) => make(), keep: async (_entry, work) => await work({ signal: signal() }) };
}
