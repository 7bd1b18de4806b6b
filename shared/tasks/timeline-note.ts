import { beginningOf } from '../errors/index.ts';

const MOST_CHARACTERS = 200;

/** A note of an entry in the timeline, which ends with a semicolon and has one line. The scripts (`include/book.lua`) take the same out. */
export function timelineNote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the ones that are taken out
  return beginningOf(text, MOST_CHARACTERS).replaceAll(/[;\u0000-\u001f\u007f]/g, ',');
}
