import { cutText } from './cut-text.ts';

const MAX_CHARACTERS = 300;

/** The beginning of what somebody asked, as a quotation, for a platform that does not show a slash command's text itself. */
export function quoteText(text: string): string {
  return `> ${cutText(text, MAX_CHARACTERS).replaceAll('\n', '\n> ')}`;
}
