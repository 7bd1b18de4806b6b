export interface Entry {
  /** What it is made of. */
  readonly source: string;
  /** Whether it is one file, on which Node 20 runs; else the modules of the fleet are used as they are, with the scripts beside them. */
  readonly isBundled: boolean;
}

/**
 * What a project imports of `muster-fleet`, by the path of its import. What several bundles hold is one chunk, so that a `TaskFailure` of one is
 * that of another.
 */
export const ENTRIES: Readonly<Record<string, Entry>> = {
  '.': { source: 'shared/config/define-config.ts', isBundled: true },
  './client': { source: 'shared/client/index.ts', isBundled: true },
  './testing': { source: 'shared/agents/testing/index.ts', isBundled: true },
  './daemon': { source: 'shared/daemons/client/index.ts', isBundled: true },
  './producer': { source: 'shared/lifecycle/producer/index.ts', isBundled: false },
};

/** The file of an entry in the package, without an extension: `entries/daemon`. */
export function fileOfEntry(path: string): string {
  const entry = ENTRIES[path];
  if (entry?.isBundled === false) return entry.source.replace(/\.ts$/, '');
  return `entries/${path === '.' ? 'index' : path.slice('./'.length)}`;
}
