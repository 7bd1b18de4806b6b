/** Runs in the page before its own scripts, and survives changes of pages, which load no document. */
export const FRAME_RECORDER = `(() => {
  const record = { step: 'start', steps: {} };
  const BUCKETS = 2000;
  const current = () => (record.steps[record.step] ??= { frames: new Array(BUCKETS + 1).fill(0), longFrames: 0, blockedMs: 0 });
  window.__record = record;
  let last = performance.now();
  const onFrame = () => {
    const now = performance.now();
    current().frames[Math.min(BUCKETS, Math.round(now - last))] += 1;
    last = now;
    requestAnimationFrame(onFrame);
  };
  requestAnimationFrame(onFrame);
  new PerformanceObserver((list) => {
    for (const { blockingDuration } of list.getEntries()) {
      current().longFrames += 1;
      current().blockedMs += blockingDuration;
    }
  }).observe({ type: 'long-animation-frame' });
  const KEPT = 1000;
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) {
      const { pathname } = new URL(name);
      if (!pathname.startsWith('/v1/') || pathname.endsWith('/stream')) continue;
      const path = pathname.replace(/[0-9A-Z]{26}/, ':id');
      const times = (record.calls ??= {})[path] ??= [];
      times.push(Math.round(duration));
      if (times.length > KEPT) times.shift();
    }
    performance.clearResourceTimings();
  }).observe({ type: 'resource' });
})()`;

export interface StepRecord {
  /** Frames by the time from one to the next, ms. */
  frames: number[];
  /** Frames that the browser itself reports as long: over 50 ms from their first task to their last paint, waits for the compositor included. */
  longFrames: number;
  /** How long the page kept the browser from anything else in these, beyond 50 ms of each task. */
  blockedMs: number;
}

export interface FrameRecord {
  steps: Record<string, StepRecord>;
  /** How long the calls of each path took, ms: the last thousand. */
  calls?: Record<string, number[]>;
}
