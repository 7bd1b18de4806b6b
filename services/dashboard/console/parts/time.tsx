import { useSyncExternalStore, type ReactElement } from 'react';

interface TimeProps {
  /** An ISO time. */
  at: string;
  /** The event whose time it is, `accepted`. */
  of?: string | undefined;
  /** A further zone for the hint, of a schedule. */
  zone?: string | undefined;
}

/** The age of a time, `33 s ago`, with the exact time on hover. */
export function Age({ at, of, zone }: TimeProps): ReactElement {
  const ms = useNow() - Date.parse(at);
  return (
    <time dateTime={at} title={timeHint({ at, of, zone })}>
      {ms < 1000 ? 'just now' : `${durationText(ms)} ago`}
    </time>
  );
}

const DAY = { day: 'numeric', month: 'short' } as const;
const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' } as const;

// A format takes longer to make than a row of a table.
const CLOCK_FORMAT = new Intl.DateTimeFormat('en-GB', CLOCK);
const DAY_FORMAT = new Intl.DateTimeFormat('en-GB', { ...DAY, ...CLOCK });

/** A time in this browser's zone, `23 Nov, 09:00:12 CET`; UTC and the further zone on hover. */
export function ClockTime({ withDay = true, ...time }: TimeProps & { withDay?: boolean }): ReactElement {
  return (
    <time dateTime={time.at} title={timeHint(time)}>
      {withDay ? clockText(time.at) : CLOCK_FORMAT.format(new Date(time.at))}
    </time>
  );
}

/** A time in this browser's zone, `23 Nov, 09:00:12 CET`. */
export function clockText(at: string): string {
  return DAY_FORMAT.format(new Date(at));
}

const FULL = { ...DAY, year: 'numeric', ...CLOCK } as const;
const OWN_ZONE = '';
const hintFormats = new Map<string, Intl.DateTimeFormat>();

function hintFormat(zone: string): Intl.DateTimeFormat {
  const known = hintFormats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-GB', zone === OWN_ZONE ? FULL : { ...FULL, timeZone: zone });
  hintFormats.set(zone, made);
  return made;
}

/** One line per zone: the viewer's, UTC, and the further zone. */
function timeHint({ at, of, zone }: TimeProps): string {
  const time = new Date(at);
  const inZone = (name: string): string => hintFormat(name).format(time);
  const lines = [inZone(OWN_ZONE), inZone('UTC'), ...(zone === undefined ? [] : [`${inZone(zone)} in ${zone}`])];
  return `${of === undefined ? '' : `${of} `}${[...new Set(lines)].join('\n')}`;
}

interface ElapsedProps {
  from: string | null | undefined;
  /** Without it the time still runs. */
  to?: string | null | undefined;
}

/** The time between two ISO times; a dash before the first. */
export function Elapsed({ from, to }: ElapsedProps): ReactElement {
  const now = useNow();
  if (!from) return <span>–</span>;
  return <Duration ms={(to ? Date.parse(to) : now) - Date.parse(from)} />;
}

export function Duration({ ms }: { ms: number | null | undefined }): ReactElement {
  return typeof ms === 'number' ? <span title={`${Math.round(ms)} ms`}>{durationText(ms)}</span> : <span>–</span>;
}

/** Ages have no fractions, so a step of some seconds is enough. */
const STEP_MS = 5000;

let now = 0;
const listeners = new Set<() => void>();

/** The current time in ms since the epoch, in steps of some seconds. All components share one timer. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, readNow);
}

/** Starts the timer with the first component, for good: a time that changed as a page opens would render all of its times twice. */
function readNow(): number {
  if (now === 0) {
    now = Date.now();
    setInterval(tick, STEP_MS);
  }
  return now;
}

function subscribe(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
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
