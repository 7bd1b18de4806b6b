import { isEntryId } from '#shared/redis/index.ts';

/** How far a reader has been told. */
export interface ReaderPlace {
  /** Id of an entry of the event stream. */
  entry: string;
  /** How many of its notices were told; null for all. */
  told: number | null;
}

const PLACE = /^(\d+-\d+)(?:\.(\d{1,6}))?$/;

/** Reads what a reader sends as `Last-Event-ID`; null for what is no id of ours. */
export function parsePlace(id: string): ReaderPlace | null {
  const [, entry, told] = PLACE.exec(id) ?? [];
  return entry === undefined || !isEntryId(entry) ? null : { entry, told: told === undefined ? null : Number(told) };
}

/** The id that a notification carries. One entry may be about many tasks, and a reader may be cut off in the middle of it. */
export function formatPlace({ entry, told }: ReaderPlace): string {
  return told === null ? entry : `${entry}.${told}`;
}
