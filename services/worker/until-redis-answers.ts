import { isRedisUnavailable } from '#shared/redis/index.ts';
import { wait } from '#shared/time/index.ts';

const TRY_AGAIN_MS = 200;

/**
 * Asks Redis again and again until it answers. Rejects with the signal's reason once that aborts, which for an attempt is at the
 * latest when its lease ends; with any other error at once.
 */
export async function untilRedisAnswers<T>(signal: AbortSignal, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (!isRedisUnavailable(error)) throw error;
    }
    await wait(TRY_AGAIN_MS, signal);
  }
}
