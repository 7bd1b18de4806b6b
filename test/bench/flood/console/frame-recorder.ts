/** Runs in the page before its own scripts, and survives changes of pages, which load no document. */
export const FRAME_RECORDER = `(() => {
  const record = { step: 'start', steps: {}, longest: [] };
  const BUCKETS = 2000;
  const KEPT_FRAMES = 20;
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
    for (const { startTime, duration, blockingDuration, renderStart, styleAndLayoutStart, scripts } of list.getEntries()) {
      current().longFrames += 1;
      current().blockedMs += blockingDuration;
      const [script] = scripts.toSorted((a, b) => b.duration - a.duration);
      record.longest.push({
        step: record.step,
        durationMs: duration,
        scriptsMs: scripts.reduce((sum, each) => sum + each.duration, 0),
        beforeRenderMs: Math.max(0, renderStart - startTime),
        beforeLayoutMs: Math.max(0, styleAndLayoutStart - startTime),
        script: script ? script.invoker + ' ' + script.duration.toFixed(0) + ' ms' : '',
      });
      if (record.longest.length <= KEPT_FRAMES) continue;
      record.longest.sort((a, b) => b.durationMs - a.durationMs).pop();
    }
  }).observe({ type: 'long-animation-frame' });
  const KEPT = 1000;
  new PerformanceObserver((list) => {
    for (const { name, duration } of list.getEntries()) {
      const { pathname } = new URL(name);
      if (!pathname.startsWith('/v1/') || pathname.endsWith('/stream') || record.step === 'between rounds') continue;
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

/** A frame that the browser reports as long, ms from its first task on. */
interface LongFrame {
  step: string;
  durationMs: number;
  scriptsMs: number;
  beforeRenderMs: number;
  beforeLayoutMs: number;
  script: string;
}

export interface FrameRecord {
  steps: Record<string, StepRecord>;
  longest: LongFrame[];
  /** How long the calls of each path took, ms: the last thousand. */
  calls?: Record<string, number[]>;
}
