import { useSyncExternalStore, type ReactElement } from 'react';

/** The age of the ISO time `at`, with the exact time on hover. */
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

/** An ISO time in this browser's zone, `23 Nov, 09:00:12 CET`, with the exact time on hover. */
export function ClockTime({ at, withDay = true }: { at: string; withDay?: boolean }): ReactElement {
  const format = new Intl.DateTimeFormat('en-GB', { ...(withDay ? DAY : {}), ...CLOCK, timeZoneName: 'short' });
  return (
    <time dateTime={at} title={at}>
      {format.format(new Date(at))}
    </time>
  );
}

/** Ages have no fractions, so a step of some seconds is enough. */
const STEP_MS = 5000;

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

/** The current time in ms since the epoch, in steps of some seconds. All components share one timer. */
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

const UNITS: readonly [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** A duration in its largest unit: `450 ms`, `12 s`, `3 min`. */
export function durationText(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size);
  return unit ? `${Math.floor(ms / unit[1])} ${unit[0]}` : `${Math.max(0, Math.round(ms))} ms`;
}

const ZONE_FIELDS = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;

/** An ISO time in a zone: `Mon, 23 Nov 2026, 09:00`, with seconds unless they are zero. */
export function zoneTime(at: string, tz: string): string {
  const time = new Date(at);
  const seconds = time.getUTCSeconds() === 0 ? {} : { second: '2-digit' as const };
  return new Intl.DateTimeFormat('en-GB', { ...ZONE_FIELDS, ...seconds, timeZone: tz }).format(time);
}
