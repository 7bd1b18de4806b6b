import { useEffect, useMemo, useRef, type ReactElement } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { shortCount } from '../numbers.tsx';
import type { Tone } from '../tone.ts';
import type { PlotProps } from './plot.tsx';
import type { PlotSeries } from './plot-series.ts';
import { ThemeColours } from './theme-colour.ts';
import { timeRange, timeTexts } from './time-texts.ts';

const BAR_PART = 0.7;
const AXIS_PX = 46;
const MIN_WIDTH_PX = 120;

/** Draws with uPlot, in the colours of the scheme and as wide as its place. */
export function DrawnPlot({ times, series, unit = '', kind = 'line', height = MIN_WIDTH_PX }: PlotProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<UPlot | null>(null);
  const data = useMemo(() => [times, ...drawnValues(series, kind)], [times, series, kind]);
  const latest = useRef({ data, series });
  useEffect(() => {
    latest.current = { data, series };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- uPlot reads the lists only
    drawn.current?.setData(data as UPlot.AlignedData);
  }, [data, series]);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const colours = new ThemeColours(element);
    const options = plotOptions(colours, { series: latest.current.series, unit, kind, height, width: widthOf(element) });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- uPlot reads the lists only
    const plot = new UPlot(options, latest.current.data as UPlot.AlignedData, element);
    drawn.current = plot;
    // The root element has the scheme, and no render says when it changes.
    const scheme = new MutationObserver(() => {
      colours.forget();
      plot.redraw(false);
    });
    scheme.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
    const growth = new ResizeObserver(() => {
      const width = widthOf(element);
      // It is observed first as wide as it was drawn.
      if (width !== plot.width) plot.setSize({ width, height });
    });
    growth.observe(element);
    return () => {
      scheme.disconnect();
      growth.disconnect();
      plot.destroy();
      drawn.current = null;
    };
  }, [unit, kind, height]);
  return <div ref={box} aria-hidden="true" />;
}

/** In a stack each series with those after it, which are drawn over it. A bar of nothing would be a line. */
function drawnValues(series: readonly PlotSeries[], kind: OptionsOf['kind']): (readonly (number | null)[])[] {
  if (kind === 'line') return series.map(({ values }) => values);
  const last = kind === 'bars' ? 1 : series.length;
  return series.map(({ values }, place) =>
    values.map((_, at) => series.slice(place, place + last).reduce((sum, each) => sum + (each.values[at] ?? 0), 0) || null),
  );
}

function widthOf(element: HTMLElement): number {
  return Math.max(MIN_WIDTH_PX, element.clientWidth);
}

interface OptionsOf {
  series: readonly PlotSeries[];
  unit: string;
  kind: 'line' | 'bars' | 'stack';
  width: number;
  height: number;
}

function plotOptions(colours: ThemeColours, { series, unit, kind, width, height }: OptionsOf): UPlot.Options {
  // Functions, because uPlot asks again whenever it draws: another scheme has other colours.
  const colour = (name: Tone | 'grid') => (): string => colours.of(name);
  const axis = { stroke: colour('idle'), grid: { stroke: colour('grid'), width: 1 }, ticks: { show: false } };
  const paths = kind !== 'line' ? UPlot.paths.bars?.({ size: [BAR_PART, Infinity] }) : undefined;
  return {
    width,
    height,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: {
      x: { range: (plot) => timeRange([...plot.data[0]], marginOf(plot, kind)) },
      y: { range: (_plot, _least, greatest) => [0, Math.max(unit === '$' ? CENT : 1, greatest * 1.1)] },
    },
    axes: [
      { ...axis, values: (_plot, splits) => timeTexts(splits) },
      { ...axis, size: AXIS_PX, values: (_plot, values) => values.map((value) => axisText(value, unit)) },
    ],
    series: [
      {},
      ...series.map(({ name, tone = 'busy' }) => ({
        label: name,
        stroke: colour(tone),
        fill: () => (kind === 'stack' ? colour(tone)() : withAlpha(colours.of(tone))),
        width: 1.5,
        // No line leads to a single one.
        points: { show: (plot: UPlot) => kind === 'line' && plot.data[0].length === 1 },
        ...(paths === undefined ? {} : { paths }),
      })),
    ],
  };
}

const CENT = 0.01;

/** Half of a bar's time, so that the first and the last are not cut. */
function marginOf(plot: UPlot, kind: OptionsOf['kind']): number {
  const [first = 0, second = first] = plot.data[0];
  return kind === 'line' ? 0 : (second - first) / 2;
}

const TEN = 10;

function axisText(value: number, unit: string): string {
  if (unit === '$' && value !== 0 && value < TEN) return `$${value.toFixed(2)}`;
  const number = value !== 0 && value < TEN ? String(Math.round(value * TEN) / TEN) : shortCount(value);
  return unit === '$' ? `$${number}` : number;
}

/** A colour with a little opacity. */
function withAlpha(colour: string): string {
  return `color-mix(in srgb, ${colour} 12%, transparent)`;
}
