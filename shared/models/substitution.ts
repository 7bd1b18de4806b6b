import { ellipsize } from '../text/index.ts';

/** Of an attempt that is noted with it; further ones are in its log only. */
const MAX_NOTES = 10;
const MAX_REASON_LENGTH = 300;
const MAX_NAME_LENGTH = 200;

/** Which model answered an attempt instead of the requested one, and why. Absent for none. */
export interface Substituted {
  /** The last one, where there were several. */
  model?: string;
  /** Why others were called, in words: the first ones. */
  notes?: string[];
}

export interface SubstitutionOptions {
  /** Gets a note for people when another model is called than the requested one. */
  readonly onNote: (note: string) => void;
  /** Takes secrets out of what is recorded. */
  readonly redact: (text: string) => string;
}

/** Substitution is responsible for what an attempt's record says of models that were called instead of the requested ones. */
export class Substitution {
  readonly #notes = new Set<string>();
  readonly #options: SubstitutionOptions;
  #model: string | undefined;

  constructor(options: SubstitutionOptions) {
    this.#options = options;
  }

  /** A model is called: noted with the reason when it differs from the one before or from the requested one. */
  called(before: string, model: string, reasonOf: () => string): void {
    if (model === before) return;
    const { redact, onNote } = this.#options;
    const reason = ellipsize(redact(reasonOf()), MAX_REASON_LENGTH);
    const text = `${ellipsize(before, MAX_NAME_LENGTH)}: ${reason}; ${model} was called instead`;
    if (this.#notes.size < MAX_NOTES) this.#notes.add(text);
    onNote(text);
  }

  /** A model answered, perhaps another than the requested one. */
  answered(asked: string, model: string): void {
    if (model !== asked) this.#model = model;
  }

  get substituted(): Substituted {
    return {
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#notes.size === 0 ? {} : { notes: [...this.#notes] }),
    };
  }
}
