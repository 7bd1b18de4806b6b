import type { Tone } from '../tone.ts';

/** A colour of the theme, as the page's style sheet has it in the current scheme. */
export function themeColour(element: Element, name: Tone | 'grid'): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
