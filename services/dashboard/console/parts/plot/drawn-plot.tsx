import { useEffect, useRef, type ReactElement } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { shortCount } from '../numbers.tsx';
import type { PlotProps } from './plot.tsx';
import { themeColour, type PlotSeries } from './series.ts';

const BAR_PART = 0.7;
const FILL_ALPHA = '22';
const AXIS_PX = 46;
const MIN_WIDTH_PX = 120;

/** Draws with uPlot, in the colours of the scheme and as wide as its place. */
export function DrawnPlot({ times, series, unit = '', kind = 'line', height = MIN_WIDTH_PX }: PlotProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<UPlot | null>(null);
  const data = [times, ...series.map(({ values }) => values)];
  const latest = useRef({ data, series });
  useEffect(() => {
    latest.current = { data, series };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- uPlot reads the lists only
    drawn.current?.setData(data as UPlot.AlignedData);
  });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const options = plotOptions(element, { series: latest.current.series, unit, kind, height });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- uPlot reads the lists only
    const plot = new UPlot(options, latest.current.data as UPlot.AlignedData, element);
    drawn.current = plot;
    const width = new ResizeObserver(() => plot.setSize({ width: widthOf(element), height }));
    width.observe(element);
    return () => {
      width.disconnect();
      plot.destroy();
      drawn.current = null;
    };
  }, [unit, kind, height]);
  return <div ref={box} aria-hidden="true" />;
}

function widthOf(element: HTMLElement): number {
  return Math.max(MIN_WIDTH_PX, element.clientWidth);
}

interface OptionsOf {
  series: readonly PlotSeries[];
  unit: string;
  kind: 'line' | 'bars';
  height: number;
}

function plotOptions(element: HTMLElement, { series, unit, kind, height }: OptionsOf): UPlot.Options {
  const grid = themeColour(element, 'line');
  const text = themeColour(element, 'idle');
  const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  const paths = kind === 'bars' ? UPlot.paths.bars?.({ size: [BAR_PART, Infinity] }) : undefined;
  return {
    width: widthOf(element),
    height,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _least, greatest) => [0, Math.max(1, greatest * 1.1)] } },
    axes: [axis, { ...axis, size: AXIS_PX, values: (_plot, values) => values.map((value) => axisText(value, unit)) }],
    series: [
      {},
      ...series.map(({ name, tone = 'busy' }) => {
        const stroke = themeColour(element, tone);
        return {
          label: name,
          stroke,
          fill: withAlpha(stroke),
          width: 1.5,
          points: { show: false },
          ...(paths === undefined ? {} : { paths }),
        };
      }),
    ],
  };
}

const TEN = 10;

function axisText(value: number, unit: string): string {
  const number = value !== 0 && value < TEN ? String(Math.round(value * TEN) / TEN) : shortCount(value);
  return unit === '$' ? `$${number}` : number;
}

/** `rgb(1, 2, 3)` with a little opacity. */
function withAlpha(colour: string): string {
  return colour.startsWith('rgb(') ? `${colour.slice(0, -1).replace('rgb(', 'rgba(')}, 0.12)` : `${colour}${FILL_ALPHA}`;
}
