import type { CronExpression } from 'cron-parser';
import { parseCron } from './cron-expression.ts';

/**
 * WallTimes is responsible for the wall times of a cron expression, written in milliseconds as if the wall were in UTC, so that
 * what the clocks do in some zone is left to whoever turns them into instants.
 */
export class WallTimes {
  readonly #expression: CronExpression;

  /** Throws when it is no expression. */
  constructor(cron: string, seed: string) {
    this.#expression = parseCron(cron, seed, 0);
  }

  /** Whether it names all 24 hours, so that it means the time that passes and not hours of the day. */
  get isEveryHour(): boolean {
    return this.#expression.fields.hour.values.length === 24;
  }

  /** The first wall time after `wallMs`, or undefined when there is none within some decades. */
  after(wallMs: number): number | undefined {
    this.#expression.reset(new Date(wallMs));
    try {
      return this.#expression.next().getTime();
    } catch {
      // It gives up after 10,000 steps, of which a year takes at most some 400.
      return undefined;
    }
  }
}
