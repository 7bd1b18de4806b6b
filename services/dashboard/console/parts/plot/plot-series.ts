import type { Tone } from '../tone.ts';

export interface PlotSeries {
  readonly name: string;
  /** One per time; null where nothing was measured. */
  readonly values: readonly (number | null)[];
  readonly tone?: Tone;
}

/** A sentence for people who do not see the plot. */
export function plotText(series: readonly PlotSeries[], format: (value: number) => string): string {
  return series
    .map(({ name, values }) => {
      const known = values.filter((value) => value !== null);
      const last = known.at(-1);
      if (last === undefined) return `${name}: no value`;
      return `${name}: last ${format(last)}, least ${format(Math.min(...known))}, greatest ${format(Math.max(...known))}`;
    })
    .join('; ');
}
