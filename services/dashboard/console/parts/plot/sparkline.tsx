import type { ReactElement } from 'react';
import { countText } from '../numbers.tsx';
import type { Tone } from '../tone.ts';
import classes from './plot.module.css';
import { plotText } from './plot-series.ts';

interface SparklineProps {
  label: string;
  /** Oldest first; null where nothing was measured. */
  values: readonly (number | null)[];
  tone?: Tone;
}

const WIDTH = 80;
const HEIGHT = 20;

/** A small plot without axes, beside a number. */
export function Sparkline({ label, values, tone = 'busy' }: SparklineProps): ReactElement {
  return (
    <svg
      className={classes['spark']}
      data-tone={tone}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={plotText([{ name: label, values }], countText)}
    >
      {segments(values).map((points) => (
        <polyline key={points} points={points} fill="none" stroke="currentColor" strokeWidth="1.5" vectorEffect="non-scaling-stroke" />
      ))}
    </svg>
  );
}

/** The lines between values that were measured. */
function segments(values: readonly (number | null)[]): string[] {
  const greatest = Math.max(1, ...values.filter((value) => value !== null));
  const step = WIDTH / Math.max(1, values.length - 1);
  const lines: string[][] = [[]];
  for (const [place, value] of values.entries()) {
    if (value === null) lines.push([]);
    else lines.at(-1)?.push(`${(place * step).toFixed(1)},${(HEIGHT - 1 - (value / greatest) * (HEIGHT - 2)).toFixed(1)}`);
  }
  return lines.filter((points) => points.length > 1).map((points) => points.join(' '));
}

interface BarProps {
  /** What is measured, `Slots`. */
  label: string;
  value: number;
  /** The whole. */
  of: number;
  tone?: Tone;
  /** Instead of the two numbers, as for money. */
  text?: string;
}

/** A part of a whole: `3 of 8`. */
export function Bar({ label, value, of, tone = 'busy', text = `${countText(value)} of ${countText(of)}` }: BarProps): ReactElement {
  return (
    <span className={classes['bar']}>
      <progress data-tone={tone} max={Math.max(1, of)} value={value} aria-label={`${label}: ${text}`} />
      <span aria-hidden="true">{text}</span>
    </span>
  );
}
