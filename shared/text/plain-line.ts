/** Characters that are not seen and turn the text around them round, or make two texts look alike. Joiners belong to words and emoji. */
const HIDDEN = '\\u00AD\\u061C\\u180E\\u200B\\u200E\\u200F\\u202A-\\u202E\\u2060-\\u206F\\uFEFF\\uFFF9-\\uFFFB';
const HIDDEN_CHARACTERS = new RegExp(`[${HIDDEN}]`, 'gu');
const SPACES = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;

/** One line of text without control characters and without characters that are not seen. */
export const PLAIN_LINE = new RegExp(`^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}${HIDDEN}]*$`, 'u');

/** A text from elsewhere as such a line: hidden characters are left out, and a break becomes a space. */
export function plainLine(text: string): string {
  return text.toWellFormed().replaceAll(HIDDEN_CHARACTERS, '').replaceAll(SPACES, ' ').trim();
}

const DIRECTIONS = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** A text without the characters that set its direction, which would count for what stands beside it, too. */
export function withoutDirections(text: string): string {
  return text.replaceAll(DIRECTIONS, '');
}
