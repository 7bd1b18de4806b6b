const HALF_AT_END = /[\uD800-\uDBFF]$/;

/** The beginning of a text, at most so many UTF-16 units, which ends between two characters. */
export function beginningOf(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : text.slice(0, maxCharacters).replace(HALF_AT_END, '');
}
