const SIGN = '…';

/** The text, cut with a sign that says so when it has more than `maxCharacters` UTF-16 units. Never cuts a character in two. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters - SIGN.length).replace(/[\uD800-\uDBFF]$/, '')}${SIGN}`;
}
