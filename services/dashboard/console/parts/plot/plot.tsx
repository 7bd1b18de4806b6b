import { lazy, Suspense, type ReactElement } from 'react';
import { countText } from '../numbers.tsx';
import classes from './plot.module.css';
import { plotText, type PlotSeries } from './plot-series.ts';

export interface PlotProps {
  /** What is plotted, `Tasks a minute`. */
  label: string;
  /** Seconds since the epoch, ascending. */
  times: readonly number[];
  series: readonly PlotSeries[];
  unit?: string;
  /** `stack`: bars of which each series stands on the one after it. */
  kind?: 'line' | 'bars' | 'stack';
  /** In pixels. */
  height?: number;
}

const HEIGHT = 160;
const DRAWN_DIGITS = 100;

/** The library is loaded with the first plot. */
const DrawnPlot = lazy(async () => ({ default: (await import('./drawn-plot.tsx')).DrawnPlot }));

/** A plot over time, with the same in words. */
export function Plot({ height = HEIGHT, kind = 'line', unit = '', ...plot }: PlotProps): ReactElement {
  const { label, series } = plot;
  // Other series have another legend.
  const names = series.map(({ name, tone = 'busy' }) => `${name}:${tone}`).join('|');
  const format = (value: number): string => [countText(Math.round(value * DRAWN_DIGITS) / DRAWN_DIGITS), unit].filter(Boolean).join(' ');
  return (
    <figure className={classes['figure']}>
      <figcaption>
        {label}
        {series.length > 1
          ? series.map(({ name, tone = 'busy' }) => (
              <span key={name} className={classes['legend']} data-tone={tone}>
                {name}
              </span>
            ))
          : null}
      </figcaption>
      <Suspense fallback={<div style={{ height }} />}>
        <DrawnPlot key={names} {...plot} height={height} kind={kind} unit={unit} />
      </Suspense>
      <p className="unseen">{plotText(series, format)}</p>
    </figure>
  );
}
