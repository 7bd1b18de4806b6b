import type { Ledger } from '../ledger.ts';
import { type Lookup, readLookup } from '../read/lookups.ts';
import type { IdSpan } from './ended-groups.ts';

/** Gives ids, newest first. */
export interface IdSource {
  /** The next ids, some of them at least, about `max`; none at the end. */
  next(max: number): Promise<string[]>;
}

/** Ids of one lookup that were read ahead. */
interface Line {
  lookup: Lookup;
  ids: string[];
  /** Reads on before this id; null is from the newest on. */
  before: string | null;
  pageSize: number;
  isEnd: boolean;
}

const FIRST_PAGE = 20;
const MAX_PAGE = 1000;
/** How much longer the next page of a lookup is that was used up. */
const GROWTH = 4;

/**
 * MergedIds is responsible for reading several lookups as one, newest first and each id once. It reads on only where it has used up what it
 * read, so that hundreds of lookups cost little.
 */
export class MergedIds implements IdSource {
  readonly #ledger: Ledger;
  readonly #low: string;
  readonly #lines: Line[];

  constructor(ledger: Ledger, lookups: readonly Lookup[], { low, before }: IdSpan) {
    this.#ledger = ledger;
    this.#low = low;
    this.#lines = lookups.map((lookup) => ({
      lookup,
      ids: [],
      before,
      pageSize: lookups.length === 1 ? MAX_PAGE : FIRST_PAGE,
      isEnd: false,
    }));
  }

  async next(max: number): Promise<string[]> {
    const found = new Set<string>();
    while (found.size < max) {
      await Promise.all(this.#lines.filter(({ ids, isEnd }) => ids.length === 0 && !isEnd).map((line) => this.#readOn(line, max)));
      const open = this.#lines.filter(({ ids }) => ids.length > 0);
      if (open.length === 0) break;
      for (const id of takeMerged(open, max - found.size)) found.add(id);
    }
    return [...found];
  }

  async #readOn(line: Line, max: number): Promise<void> {
    const size = Math.min(line.pageSize, Math.max(max, FIRST_PAGE));
    line.ids = await readLookup(this.#ledger, line.lookup, { low: this.#low, before: line.before, max: size });
    line.isEnd = line.ids.length < size;
    line.before = line.ids.at(-1) ?? line.before;
    line.pageSize = Math.min(MAX_PAGE, line.pageSize * GROWTH);
  }
}

/** Takes the newest ids of all lines, down to where the first line that may have more is used up. */
function takeMerged(lines: readonly Line[], max: number): string[] {
  const boundary = lines.reduce((newest, { ids, isEnd }) => (isEnd ? newest : later(newest, ids.at(-1) ?? '')), '');
  const ids = lines.flatMap((line) => line.ids.filter((id) => id >= boundary)).toSorted((a, b) => (a < b ? 1 : -1));
  const taken = ids.slice(0, max);
  const last = taken.at(-1) ?? '';
  for (const line of lines) line.ids = line.ids.filter((id) => id < last);
  return taken;
}

function later(one: string, other: string): string {
  return one > other ? one : other;
}
