/** How a coding agent names, keeps and resumes its sessions. */
export interface PresetSession {
  /** Further words of a run that begins one, with an id of ours; absent where the program chooses the id. */
  readonly begin?: (id: string) => readonly string[];
  /** Words of a run that goes on with one, in place of the preset's `options`. */
  readonly resume: (id: string) => readonly string[];
  /** Words by which a definition sees to sessions itself. */
  readonly ownWords: readonly string[];
  readonly data: SessionData;
  /** What it writes where it has no session of such an id. */
  readonly isUnknown: RegExp;
}

/** Where a program has its sessions, without its credentials. */
export interface SessionData {
  /** The variable that names the folder of its data, or one above, and where it is in there. */
  readonly variable: string;
  readonly inVariable: string;
  /** Where it is below HOME without that variable. */
  readonly inHome: string;
  /** Names in it that are looked into. */
  readonly names: readonly string[];
  /** A pattern of the paths there that belong to a session, whose id is `{id}` in it. */
  readonly files: string;
  /** Where they have to be for a program that runs in a folder, by what stands at the beginning of their paths. By default in the same place. */
  readonly place?: { readonly from: string; readonly to: (cwd: string) => string };
  /** Whether its files have other sessions too, so that they are kept only where no other can be among them. */
  readonly isShared?: true;
}
