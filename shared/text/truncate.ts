const HALF_AT_END = /[\uD800-\uDBFF]$/;
const ELLIPSIS = '…';

/** The beginning of a text, at most so many UTF-16 units, without half a character at its end. */
export function truncate(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : text.slice(0, maxCharacters).replace(HALF_AT_END, '');
}

/** The same with an ellipsis, which counts, at the end of a text that was longer. */
export function ellipsize(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${truncate(text, Math.max(maxCharacters - ELLIPSIS.length, 0))}${ELLIPSIS}`;
}

/** The beginning of a text that takes at most so many bytes of UTF-8, without half a character at its end. */
export function truncateBytes(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at most three bytes: most texts need no measuring.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
