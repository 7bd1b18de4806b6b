import { createHash } from 'node:crypto';
import { readFileSync, watch, type FSWatcher } from 'node:fs';
import { dirname, join } from 'node:path';

/** An editor writes a file in several steps. */
const SETTLE_MS = 100;
const SOURCE = /\.(?:[cm]?[jt]s|json)$/;

/** FileWatch is responsible for noticing that the content of a file changed, by whatever an editor does to save it. */
export class FileWatch {
  /** Whether a source file that appears beside the known ones counts, too: a start may have failed because it was missing. */
  seesNewFiles = false;
  readonly #onChange: (file: string) => void;
  /** The digest of each file as it was loaded; null for one that could not be read. */
  readonly #digests = new Map<string, string | null>();
  readonly #folders = new Map<string, FSWatcher>();
  readonly #touched = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  /** Watches a file from its present content on. */
  add(file: string): void {
    this.#digests.set(file, digestOf(file));
    const folder = dirname(file);
    if (this.#folders.has(folder)) return;
    try {
      // An editor may replace a file by another one of its name, which only the folder shows.
      const watcher = watch(folder, (_event, name) => this.#touch(name === null ? null : join(folder, name)));
      watcher.on('error', () => this.#forget(folder));
      this.#folders.set(folder, watcher);
    } catch {
      // The folder is gone: the file's next load says so.
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const folder of this.#folders.keys()) this.#forget(folder);
  }

  #forget(folder: string): void {
    this.#folders.get(folder)?.close();
    this.#folders.delete(folder);
  }

  #touch(file: string | null): void {
    if (file !== null) this.#touched.add(file);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#compare(), SETTLE_MS);
  }

  #compare(): void {
    const changed = [...this.#digests].filter(([file, before]) => digestOf(file) !== before).map(([file]) => file);
    for (const file of changed) this.#digests.set(file, digestOf(file));
    const added = this.seesNewFiles ? [...this.#touched].filter((file) => SOURCE.test(file) && !this.#digests.has(file)) : [];
    this.#touched.clear();
    const [first] = [...changed, ...added];
    if (first !== undefined) this.#onChange(first);
  }
}

function digestOf(file: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return null;
  }
}
