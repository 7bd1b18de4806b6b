/** Names of Muster's own; others may have variables that look alike by chance. */
const OURS = /^MUSTER_/;
/** Letters that a name may be away from the one that was meant: a pair that changed places counts as two. */
const MAX_TYPOS = 2;

/**
 * A line for each variable that nothing reads and whose name is nearly that of one that is read: a fleet without its seal key, say, would start as
 * if none had been given.
 */
export function mistypedVariables(given: readonly string[], known: readonly string[]): string[] {
  const isKnown = new Set(known);
  return given
    .filter((name) => OURS.test(name) && !isKnown.has(name))
    .flatMap((name) => {
      const meant = nearestName(name, known);
      return meant === undefined ? [] : [`environment: nothing reads ${name}: is ${meant} meant?`];
    });
}

/** The known name that is nearly this one; undefined where none is. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  return known.find((other) => typosBetween(name, other) <= MAX_TYPOS);
}

/** Letters to add, leave out or change, by https://en.wikipedia.org/wiki/Levenshtein_distance; names that differ more in length are told at once. */
function typosBetween(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MAX_TYPOS) return Infinity;
  let before = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const line = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const changed = (before[at - 1] ?? 0) + Number(one[row - 1] !== other[at - 1]);
      line.push(Math.min(changed, (before[at] ?? 0) + 1, (line[at - 1] ?? 0) + 1));
    }
    before = line;
  }
  return before[other.length] ?? Infinity;
}
