/** SortedLine is responsible for keeping what waits in one order, so that the first of thousands is found at once. */
export class SortedLine<Item extends { id: string }> {
  readonly #items: Item[] = [];
  readonly #isBefore: (one: Item, other: Item) => boolean;

  constructor(isBefore: (one: Item, other: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The best first. */
  get items(): readonly Item[] {
    return this.#items;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  add(item: Item): void {
    this.#items.splice(this.#placeOf(item), 0, item);
  }

  /** The first that stands behind an item, which need not be here; without one the first of all. */
  firstBehind(item: Item | null): Item | undefined {
    return item === null ? this.first : this.#items[this.#placeOf(item)];
  }

  /** Takes the first `count` out. */
  take(count: number): Item[] {
    return this.#items.splice(0, count);
  }

  remove({ id }: Pick<Item, 'id'>): boolean {
    // What leaves is mostly the first.
    const at = this.#items.findIndex((item) => item.id === id);
    if (at >= 0) this.#items.splice(at, 1);
    return at >= 0;
  }

  /** How many do not stand behind an item. */
  #placeOf(item: Item): number {
    let [low, high] = [0, this.#items.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const other = this.#items[middle];
      if (other !== undefined && this.#isBefore(item, other)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
