import type { Tone } from '../status-badge.tsx';

export interface PlotSeries {
  readonly name: string;
  /** One per time; null where nothing was measured. */
  readonly values: readonly (number | null)[];
  readonly tone?: Tone;
}

/** A colour of the theme, as the page's style sheet has it in the current scheme. */
export function themeColour(element: Element, name: Tone | 'line'): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
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
