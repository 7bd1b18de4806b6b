import { wait } from '#shared/time/index.ts';

/** A minute in all: Redis comes back within seconds when it comes back by itself. */
const TRIES = 12;
const FIRST_MS = 250;
const MOST_MS = 8000;

/** Does it, and again while it fails, for about a minute. For what nobody sends a second time. Throws what the last try threw. */
export async function retryForAMinute<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= TRIES) throw error;
      await wait(Math.min(FIRST_MS * 2 ** (tries - 1), MOST_MS));
    }
  }
}
