/**
 * What is kept of an attempt for later ones, and where that is. Plain data, which a process of the program's user gets as JSON, with paths that are
 * relative to the folder of the attempt.
 */
export interface KeptPlaces {
  /** The working folder; null where it is not the attempt's own. */
  readonly work: string | null;
  /** Paths in it that are not kept. */
  readonly leaveOut: readonly string[];
  readonly session: KeptSession | null;
  /** Bytes of all files together. */
  readonly maxBytes: number;
}

/** Files of a coding agent's session. */
export interface KeptSession {
  /** Where the program has its data. */
  readonly folder: string;
  /** Names in it that are looked into. */
  readonly names: readonly string[];
  /** A pattern of the paths there that belong to the session. */
  readonly files: string;
  /** What their paths begin with, as a pattern, and what they have to begin with now. */
  readonly place: { readonly from: string; readonly to: string } | null;
}

/** What an archive of them would have. */
export interface KeptListing {
  /** Changes when something of it does. */
  readonly digest: string;
  /** Files of the session. */
  readonly sessionFiles: number;
  /** All entries. */
  readonly entries: number;
  /** Why the working folder is not among them; null where it is. */
  readonly problem: string | null;
}
