import type { Tone } from '../tone.ts';

/** A colour of the theme, or of the lines of a plot. */
type ColourName = Tone | 'grid';

/**
 * ThemeColours is responsible for the colours of one plot, as the page's style sheet has them in the current scheme. Each is read once: a
 * reading makes the browser compute the styles of the page, and a plot asks for its colours whenever it draws.
 */
export class ThemeColours {
  readonly #element: Element;
  readonly #known = new Map<ColourName, string>();

  constructor(element: Element) {
    this.#element = element;
  }

  of(name: ColourName): string {
    const colour = this.#known.get(name) ?? readColour(this.#element, name);
    this.#known.set(name, colour);
    return colour;
  }

  /** Another scheme has other colours. */
  forget(): void {
    this.#known.clear();
  }
}

function readColour(element: Element, name: ColourName): string {
  const probe = document.createElement('span');
  probe.style.color = `var(--${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
