/** CallbackSlots is responsible for leaving room for everybody's callbacks when one tenant's endpoints are slow. */
export class CallbackSlots {
  readonly #most: number;
  readonly #taken = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Returns whether the tenant had a slot left, which it has to give back then. */
  take(tenant: string): boolean {
    const taken = this.#taken.get(tenant) ?? 0;
    if (taken >= this.#most) return false;
    this.#taken.set(tenant, taken + 1);
    return true;
  }

  giveBack(tenant: string): void {
    const left = (this.#taken.get(tenant) ?? 0) - 1;
    if (left > 0) this.#taken.set(tenant, left);
    else this.#taken.delete(tenant);
  }
}
