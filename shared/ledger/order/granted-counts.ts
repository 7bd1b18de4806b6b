import type { CapName, GatedTask, GateLimits } from './gated-task.ts';

/** GrantedCounts is responsible for how much room limits leave beside what is granted. */
export class GrantedCounts {
  #running = 0;
  #low = 0;
  readonly #byLetter = new Map<string, number>();
  readonly #byLane = new Map<string, number>();
  readonly #limitsNow: () => GateLimits;

  constructor(limitsNow: () => GateLimits) {
    this.#limitsNow = limitsNow;
  }

  /** A grant, or its end. */
  count({ class: own, lanes }: GatedTask, change: 1 | -1): void {
    const letter = own.charAt(0);
    this.#running += change;
    if (isLow(own)) this.#low += change;
    this.#byLetter.set(letter, (this.#byLetter.get(letter) ?? 0) + change);
    for (const lane of lanes) this.#byLane.set(lane, (this.#byLane.get(lane) ?? 0) + change);
  }

  roomInLane(lane: string): number {
    return (this.#limitsNow().lanes[lane] ?? Infinity) - (this.#byLane.get(lane) ?? 0);
  }

  /** The first cap without room for another task of a class, or null. */
  fullCap(own: string): CapName | null {
    const { running, low, byLetter } = this.#limitsNow();
    const letter = own.charAt(0);
    if (running !== null && this.#running >= running) return 'running';
    if ((this.#byLetter.get(letter) ?? 0) >= (byLetter[letter] ?? Infinity)) return 'class';
    return isLow(own) && low !== null && this.#low >= low ? 'low' : null;
  }
}

function isLow(own: string): boolean {
  return own.endsWith('0');
}
