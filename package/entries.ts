/**
 * What a project imports of `muster-fleet`, by the path of its import, and the source that it is made of. Each is bundled, and what several of
 * them hold is one chunk, so that a `TaskFailure` of one is that of another.
 */
export const ENTRIES: Readonly<Record<string, string>> = {
  '.': 'shared/config/define-config.ts',
  './daemon': 'shared/daemons/client/index.ts',
};

/** The file of an entry in the package, without an extension: `entries/daemon`. */
export function fileOfEntry(path: string): string {
  return `entries/${path === '.' ? 'index' : path.slice('./'.length)}`;
}
