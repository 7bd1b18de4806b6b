import { type ReactElement, useSyncExternalStore } from 'react';
import { durationText } from './duration-text.ts';

/** How long ago a time is, with the exact one on hover. `at` is an ISO time. */
export function Age({ at }: { at: string }): ReactElement {
  const ms = useNow() - Date.parse(at);
  return (
    <time dateTime={at} title={at}>
      {ms < 1000 ? 'just now' : `${durationText(ms)} ago`}
    </time>
  );
}

const DAY = { day: 'numeric', month: 'short' } as const;
const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;

/** An ISO time by this browser's clock, with its zone: `23 Nov, 09:00:12 CET`; the exact one on hover. */
export function ClockTime({ at, withDay = true }: { at: string; withDay?: boolean }): ReactElement {
  const format = new Intl.DateTimeFormat('en-GB', { ...(withDay ? DAY : {}), ...CLOCK, timeZoneName: 'short' });
  return (
    <time dateTime={at} title={at}>
      {format.format(new Date(at))}
    </time>
  );
}

/** Ages have no fractions, so that steps of some seconds are enough. */
const STEP_MS = 5000;

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** The current time in ms since the epoch, in steps of a few seconds. All users share one timer. */
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
