/** What a task has written so far, as its stream is read piece by piece: the text, and where each piece of it begins. */
export interface WrittenText {
  readonly text: string;
  readonly starts: readonly number[];
}

export const NO_TEXT: WrittenText = { text: '', starts: [] };

/**
 * Adds a piece. A run that begins again starts over with piece 1; one that goes on from its journal starts over behind what it keeps, and its
 * pieces replace those of the same numbers. `seq`: the piece's number, from 1.
 */
export function addPiece({ text, starts }: WrittenText, { seq, text: piece }: { seq: number; text: string }): WrittenText {
  const kept = seq <= 1 ? '' : text.slice(0, starts[seq - 1] ?? text.length);
  const before = starts.slice(0, seq - 1);
  // Pieces that a reader did not get begin where this one does.
  while (before.length < seq - 1) before.push(kept.length);
  return { text: kept + piece, starts: [...before, kept.length] };
}
