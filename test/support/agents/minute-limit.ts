const MINUTE_MS = 60_000;

/** What one call took of a limit. */
export interface Taken {
  readonly at: number;
  amount: number;
}

/** MinuteLimit is responsible for a limit as providers count it: a bucket that refills evenly, and no more than the rate within any minute. */
export class MinuteLimit {
  readonly #perMinute: number;
  readonly #burst: number;
  readonly #taken: Taken[] = [];
  #used = 0;
  #bucket: { left: number; at: number };

  /** `burst`: what the bucket holds. */
  constructor(perMinute: number, burst: number) {
    this.#perMinute = perMinute;
    this.#burst = burst;
    this.#bucket = { left: burst, at: performance.now() };
  }

  /** Which part of the limit has no room for so much. */
  refusal(now: number, amount: number): 'minute' | 'burst' | null {
    this.#move(now);
    if (this.#used + amount > this.#perMinute) return 'minute';
    return this.#bucket.left < Math.min(amount, this.#burst) ? 'burst' : null;
  }

  take(now: number, amount: number): Taken {
    this.#move(now);
    const taken = { at: now, amount };
    this.#taken.push(taken);
    this.#add(amount);
    return taken;
  }

  /** What a call took was less, or more. */
  correct(taken: Taken, amount: number): void {
    if (this.#taken.includes(taken)) this.#add(amount - taken.amount);
    taken.amount = amount;
  }

  left(now: number): number {
    this.#move(now);
    return Math.max(0, this.#perMinute - this.#used);
  }

  /** Until all of it is there again. */
  resetMs(now: number): number {
    this.#move(now);
    const last = this.#taken.at(-1);
    return last ? last.at + MINUTE_MS - now : 0;
  }

  /** Until there is room for so much. */
  waitMs(now: number, amount: number): number {
    this.#move(now);
    let missing = this.#used + amount - this.#perMinute;
    const freeing = missing > 0 ? this.#taken.find((taken) => (missing -= taken.amount) <= 0) : undefined;
    const refillMs = (Math.max(0, amount - this.#bucket.left) * MINUTE_MS) / this.#perMinute;
    return Math.max(refillMs, freeing ? freeing.at + MINUTE_MS - now : 0);
  }

  #add(amount: number): void {
    this.#used += amount;
    this.#bucket.left = Math.min(this.#burst, this.#bucket.left - amount);
  }

  #move(now: number): void {
    while ((this.#taken[0]?.at ?? now) <= now - MINUTE_MS) this.#used -= this.#taken.shift()?.amount ?? 0;
    const { left, at } = this.#bucket;
    this.#bucket = { left: Math.min(this.#burst, left + ((now - at) * this.#perMinute) / MINUTE_MS), at: now };
  }
}
