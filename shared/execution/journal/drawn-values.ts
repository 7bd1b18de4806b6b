import type { NumberedEntry } from '../../ledger/index.ts';

/** Times and random numbers that an entry keeps. */
const MAX_DRAWN = 1000;

/** DrawnValues is responsible for the times and random numbers that a run draws, until the entry that follows is written with them. */
export class DrawnValues {
  readonly #values: number[] = [];

  /** The number that the run had here first, else `fresh`. `next`: the entry that followed then. Until it is written nothing depends on the number. */
  draw(fresh: number, next: NumberedEntry | undefined): number {
    const value = next?.drawn?.[this.#values.length] ?? fresh;
    if (this.#values.length < MAX_DRAWN) this.#values.push(value);
    return value;
  }

  /** What was drawn since the last entry, for the next one. */
  take(): { drawn?: number[] } {
    const drawn = this.#values.splice(0);
    return drawn.length > 0 ? { drawn } : {};
  }
}
