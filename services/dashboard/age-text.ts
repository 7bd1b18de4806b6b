import { durationText } from './duration-text.ts';
import { html, type Html } from './html.ts';

/** How long ago a time is, in its largest unit, with the exact time on hover. `at` and `now` are ms since the epoch. */
export function ageText(at: number, now: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}" title="${new Date(at).toISOString()}">${durationText(now - at)} ago</time>`;
}
