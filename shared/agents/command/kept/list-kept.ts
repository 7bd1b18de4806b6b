import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import type { KeptPlaces } from './kept-places.ts';

/** One entry of an archive. */
export interface KeptEntry {
  /** Its name in the archive: `work/` or `session/`, and a path with slashes. */
  readonly name: string;
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink';
  readonly bytes: number;
  readonly mode: number;
  readonly mtimeMs: number;
  /** Of a link. */
  readonly target?: string;
}

/** What a folder may have: files, links and folders, and how deep. A program may leave any number. */
export const MAX_ENTRIES = 20_000;
export const MAX_DEPTH = 48;
/** Entries that are looked at to find those of a session, among all of a person. */
const MAX_SEEN = 100_000;

/** Files of the session. */
export async function listSession({ session }: KeptPlaces): Promise<KeptEntry[]> {
  if (session === null) return [];
  const { folder, names, files } = session;
  const pattern = new RegExp(files);
  const found: KeptEntry[] = [];
  let seen = 0;
  for (const name of names) {
    for await (const entry of iterate(folder, name, () => false)) {
      seen += 1;
      if (seen > MAX_SEEN) throw new Error(`${folder} has more than ${MAX_SEEN} files`);
      if (entry.kind === 'file' && pattern.test(entry.name)) found.push({ ...entry, name: `session/${entry.name}` });
    }
  }
  return found;
}

/** All of the working folder but what git ignores in it. Null with a reason where it is too much. */
export async function listWork(
  { work, leaveOut, maxBytes }: KeptPlaces,
  usedBytes: number,
): Promise<{ entries: KeptEntry[]; problem: null } | { entries: null; problem: string }> {
  if (work === null) return { entries: [], problem: null };
  const entries: KeptEntry[] = [];
  let bytes = usedBytes;
  for await (const entry of iterate(work, '', (path) => leaveOut.includes(path))) {
    bytes += entry.bytes;
    if (bytes > maxBytes) return { entries: null, problem: `it has more than ${maxBytes} bytes` };
    entries.push({ ...entry, name: `work/${entry.name}` });
    if (entries.length > MAX_ENTRIES) return { entries: null, problem: `it has more than ${MAX_ENTRIES} files` };
  }
  return { entries, problem: null };
}

/** The same for the same entries with the same sizes and times. */
export function digestOf(entries: readonly KeptEntry[]): string {
  const hash = createHash('sha256');
  for (const { name, kind, bytes, mtimeMs, target = '' } of entries) {
    // A folder changes with each file that comes or goes, which have entries of their own.
    hash.update(`${name}\0${kind}\0${bytes}\0${kind === 'directory' ? 0 : mtimeMs}\0${target}\n`);
  }
  return hash.digest('hex');
}

type IsLeftOut = (path: string) => boolean;

/** Entries below a folder, each folder before what is in it. Follows no link; a name that is no text is passed over. */
async function* iterate(top: string, path: string, isLeftOut: IsLeftOut, depth = 0): AsyncGenerator<KeptEntry> {
  const found = await lstat(join(top, path)).catch(() => null);
  const entry = found && (await describe(top, path, found));
  if (entry !== null && path !== '') yield entry;
  if (entry?.kind === 'directory' && depth <= MAX_DEPTH) yield* iterateFolder(top, path, isLeftOut, depth);
}

async function* iterateFolder(top: string, path: string, isLeftOut: IsLeftOut, depth: number): AsyncGenerator<KeptEntry> {
  const start = path === '' ? '' : `${path}/`;
  const names = await readdir(join(top, path)).catch((): string[] => []);
  const ignored = depth <= MAX_GIT_DEPTH && names.includes('.git') ? await listIgnored(join(top, path)) : null;
  const isInnerLeftOut = ignored === null ? isLeftOut : (each: string) => isLeftOut(each) || ignored.has(each.slice(start.length));
  for (const name of names.toSorted()) {
    if (!name.includes('\uFFFD') && !isInnerLeftOut(`${start}${name}`)) yield* iterate(top, `${start}${name}`, isInnerLeftOut, depth + 1);
  }
}

/** Null for what is no file, folder or link within the top. */
async function describe(top: string, path: string, found: Stats): Promise<KeptEntry | null> {
  const common = { name: path, path: join(top, path), mode: found.mode & 0o777, mtimeMs: found.mtimeMs };
  if (found.isDirectory()) return { ...common, kind: 'directory', bytes: 0 };
  if (found.isFile()) return { ...common, kind: 'file', bytes: found.size };
  if (!found.isSymbolicLink()) return null;
  const target = await readlink(join(top, path)).catch(() => '');
  return isWithin(path, target) ? { ...common, kind: 'symlink', bytes: 0, target } : null;
}

/** Whether a link leads to something below the same top. */
export function isWithin(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0')) return false;
  return !/^\.\.(?:\/|$)/.test(normalize(join(dirname(path), target)));
}

/** Deeper checkouts are those of dependencies. */
const MAX_GIT_DEPTH = 2;
const GIT_MS = 10_000;
const GIT_BYTES = 8 * 1024 * 1024;
/** No program of the repository's own choice is run. */
const GIT_OPTIONS = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
const GIT_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_OPTIONAL_LOCKS: '0',
};

/** What git ignores in a checkout, as dependencies that are installed again; nothing where that cannot be found out. */
async function listIgnored(checkout: string): Promise<ReadonlySet<string>> {
  const words = [...GIT_OPTIONS, 'ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  const options = { cwd: checkout, env: GIT_ENVIRONMENT, timeout: GIT_MS, maxBuffer: GIT_BYTES, killSignal: 'SIGKILL' } as const;
  const listed = await new Promise<string>((resolve) => {
    execFile('git', words, options, (error, stdout) => resolve(error === null ? stdout : ''));
  });
  return new Set(
    listed
      .split('\0')
      .filter((path) => path !== '')
      .map((path) => path.replace(/\/$/, '')),
  );
}
