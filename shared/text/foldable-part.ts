/** Characters that JSON writes otherwise. */
const UNLIKE = /["\\/\p{Cc}\u{7F}]/u;

/**
 * The longest part of a text, in lower case, that stands as it is in JSON and in a text whose ASCII letters are folded: what a script
 * can look for. The caller compares the whole text.
 */
export function foldablePart(text: string): string {
  const runs = [''];
  for (const character of text) {
    if (isPlain(character)) runs.push(`${runs.pop() ?? ''}${character.toLowerCase()}`);
    else runs.push('');
  }
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), '');
}

/** Whether only ASCII's own letters have a second case: all others would have to be folded as JavaScript does. */
function isPlain(character: string): boolean {
  if (UNLIKE.test(character)) return false;
  return character <= '~' || character.toLowerCase() === character.toUpperCase();
}
