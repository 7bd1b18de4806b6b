const SHOWN = 12;

/** A text with its hashes cut to their beginnings, which is enough to compare them by eye; also one whose end the text has lost. */
export function shortHashes(text: string): string {
  return text.replaceAll(/\b[\da-f]{24,}\b/g, (hash) => `${hash.slice(0, SHOWN)}\u2026`);
}
