import { type Gated, goesBefore, isPassedLonger } from './gated-task.ts';
import { SortedLine } from './sorted-line.ts';

/** PassedTasks is responsible for the waiting tasks that others may pass in a lane, and for which of them keeps which lane. */
export class PassedTasks {
  /** By the lanes that they share: of equals only the one that was passed for longest keeps them. */
  readonly #lines = new Map<string, SortedLine<Gated>>();
  #kept: Map<string, Gated> | null = null;
  #keepsFrom = Number.NEGATIVE_INFINITY;

  /** Lanes are kept for those that others may pass since then. */
  set keepsFrom(time: number) {
    this.#keepsFrom = time;
    this.#kept = null;
  }

  get all(): Gated[] {
    return [...this.#lines.values()].flatMap(({ items }) => items).toSorted((one, other) => (isPassedLonger(one, other) ? -1 : 1));
  }

  add(gated: Gated): void {
    const name = gated.task.lanes.join(' ');
    const line = this.#lines.get(name) ?? new SortedLine<Gated>(isPassedLonger);
    this.#lines.set(name, line);
    line.add(gated);
    this.#kept = null;
  }

  remove(gated: Gated): void {
    if (this.#lines.get(gated.task.lanes.join(' '))?.remove(gated)) this.#kept = null;
  }

  /** The other task that a place in a lane is kept for, so that this one may not have it. */
  keptFrom(lane: string, gated: Gated): Gated | undefined {
    const keeper = this.kept.get(lane);
    return keeper && keeper.id !== gated.id && !goesBefore(gated, keeper) ? keeper : undefined;
  }

  /** Lanes that are kept, each for the critical task, or any, that others have passed for longest. */
  get kept(): ReadonlyMap<string, Gated> {
    if (this.#kept) return this.#kept;
    const kept = new Map<string, Gated>();
    const firsts = [...this.#lines.values()].flatMap(
      ({ items }) => items.find(({ passedAt }) => (passedAt ?? Infinity) <= this.#keepsFrom) ?? [],
    );
    for (const gated of firsts.toSorted((one, other) => (isPassedLonger(one, other) ? -1 : 1))) {
      const { lanes } = gated.task;
      if (lanes.every((name) => !kept.has(name))) for (const name of lanes) kept.set(name, gated);
    }
    this.#kept = kept;
    return kept;
  }
}
