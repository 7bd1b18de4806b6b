import type { RunningAttempt } from '../attempt/running-attempt.ts';

/**
 * RunningAttempts is responsible for the attempts of this process by their lease member, and for letting each go when it ends. The tables that
 * a map of V8 outgrows refer to its next ones, and so to all attempts that were in them, until the old generation is collected: each
 * attempt is held through a slot, which is emptied.
 */
export class RunningAttempts {
  readonly #slots = new Map<string, { attempt: RunningAttempt | undefined }>();

  get size(): number {
    return this.#slots.size;
  }

  get all(): RunningAttempt[] {
    return [...this.#slots.values()].flatMap(({ attempt }) => attempt ?? []);
  }

  get(member: string): RunningAttempt | undefined {
    return this.#slots.get(member)?.attempt;
  }

  add(attempt: RunningAttempt): void {
    this.#slots.set(attempt.member, { attempt });
  }

  delete({ member }: RunningAttempt): void {
    const slot = this.#slots.get(member);
    if (!slot) return;
    slot.attempt = undefined;
    this.#slots.delete(member);
  }
}
