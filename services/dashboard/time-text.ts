import { html, type Html } from './html.ts';

const UNITS: readonly [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** How long ago a time is, in its largest unit, with the exact time on hover. `at` and `now` are ms since the epoch. */
export function ageText(at: number, now: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}" title="${new Date(at).toISOString()}">${durationText(now - at)} ago</time>`;
}

/** A duration in its largest unit: `450 ms`, `12 s`, `3 min`. */
export function durationText(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size);
  return unit ? `${Math.floor(ms / unit[1])} ${unit[0]}` : `${Math.max(0, Math.round(ms))} ms`;
}
