import { describe, expect, it } from 'vitest';
import { startDeadline } from '#shared/time/wait.ts';

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** How long it took until the deadline was over. */
async function deadlineMs(ms: number): Promise<number> {
  const from = performance.now();
  await new Promise<void>((resolve) => startDeadline(ms, resolve));
  return performance.now() - from;
}

describe('a deadline', () => {
  it('is over when its time is', async () => {
    expect(await deadlineMs(100)).toBeGreaterThanOrEqual(95);
  });

  it('hardly counts the time in which its process stands still', async () => {
    const ended = deadlineMs(200);
    standStill(1000);
    expect(await ended).toBeGreaterThan(1000 + 200 * 0.7);
  });

  it('that was stopped does not call back', async () => {
    let isOver = false;
    const stop = startDeadline(20, () => {
      isOver = true;
    });
    stop();
    await deadlineMs(60);
    expect(isOver).toBe(false);
  });
});
