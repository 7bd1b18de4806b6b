/** The longest beginning of a text that takes at most `maxBytes` bytes of UTF-8; never half a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  // A UTF-16 unit takes at most three bytes: most texts need no measuring.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
