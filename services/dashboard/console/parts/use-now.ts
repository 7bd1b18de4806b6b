import { useSyncExternalStore } from 'react';

/** Ages are shown in whole units, so that a step of some seconds is seen as one. */
const STEP_MS = 5000;

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** The time, ms since the epoch; it moves on every few seconds. All that show it share one timer. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

function subscribe(onChange: () => void): () => void {
  now = Date.now();
  listeners.add(onChange);
  timer ??= setInterval(tick, STEP_MS);
  return () => {
    listeners.delete(onChange);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}
