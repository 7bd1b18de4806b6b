/** Calls `work` `count` times with at most `limit` concurrent calls. Resolves when all are done. */
export async function inFlight(count: number, limit: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, count) }, lane));
}

/** How many times a second `work` handled one of `count` items. It may say itself how long that took, in ms. */
export async function perSecond(count: number, work: () => Promise<number | void>): Promise<number> {
  const start = performance.now();
  const elapsedMs = await work();
  return count / ((elapsedMs ?? performance.now() - start) / 1000);
}
