import { basename } from 'node:path';
import { isModule, withoutCommentLines, type SourceFile } from './source-file.ts';

/** Words that say nothing about what a file holds. */
const EMPTY_NAMES = /(^|[-.])(utils?|helpers?|common|managers?|base|types|misc|v[2-9])([-.]|$)/i;

const MAX_LINES = 300;
/** A suite is a list of cases. */
const MAX_TEST_LINES = 600;

const ENVIRONMENT = /\bprocess\s*\.\s*env\b|\bprocess\[\s*['"]env['"]|\benv\b[^;\n]*\}\s*(=\s*process\b|from\s*['"](node:)?process['"])/;

/** What a reader of the repository could not open: other folders of the machine it was written on, notes, numbers of tickets. */
const ELSEWHERE = [
  /(?<![\w./:-])\/(work|home|Users|root)\/\w/,
  /\.\.\/(\.library|seeds|shared\/[A-Z])/,
  /\bblue-?print\b/i,
  /\bissues? #?\d+\b/i,
];

/** Documents are named in capitals; the ones that a repository of ours has. */
const DOCUMENT = /\b[A-Z]{4,}\.md\b/g;

/** Set-up, and the check that begins with it, run before anything is installed, so they cannot import the configuration. */
export function environmentReads(files: readonly SourceFile[]): string[] {
  const allowed = /^(shared\/config\/|test\/support\/test-environment\.ts$|services\/local\/.+\.mjs$|\.ci\/check\.mjs$)/;
  return files
    .filter((file) => isModule(file) && !allowed.test(file.path) && ENVIRONMENT.test(withoutCommentLines(file.text)))
    .map(({ path }) => path);
}

export function emptyNames(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => /^(services|shared|test|agents)\//.test(path) && path.split('/').some(isEmptyName))
    .map(({ path }) => path);
}

function isEmptyName(part: string): boolean {
  return EMPTY_NAMES.test(part.replace(/(\.test)?\.(tsx?|mjs|lua)$/, ''));
}

/** A door names what others may import from its folder, and says in a paragraph what is inside; it has no code of its own. */
const DOOR = /^\/\*\*[^]+?\*\/\s*(export (type )?\{[^}]*\} from '\.[^']+';\s*)+$/;

export function badDoors(files: readonly SourceFile[]): string[] {
  const handsOnAll = /^export \*(?! as )/m;
  return (
    files
      // VitePress gives the files of a theme their names.
      .filter((file) => isModule(file) && !file.path.startsWith('docs/.vitepress/'))
      .filter(({ path, text }) => handsOnAll.test(text) || (basename(path).startsWith('index.') && !DOOR.test(text)))
      .map(({ path }) => path)
  );
}

export function longFiles(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isModule(file) || file.path.endsWith('.lua'))
    .map(({ path, text }) => ({
      path,
      lines: text.trimEnd().split('\n').length,
      max: path.startsWith('test/') ? MAX_TEST_LINES : MAX_LINES,
    }))
    .filter(({ lines, max }) => lines > max)
    .map(({ path, lines, max }) => `${path} has ${lines} lines, more than ${max}`);
}

const MAX_ENTRIES = 20;
/** Its folders are the modules of the house, in an order of their own. */
const MAX_MODULES = 30;

/** Files and folders of a folder, apart from its door and the fragments of its scripts. */
export function crowdedFolders(files: readonly SourceFile[]): string[] {
  const entries = new Map<string, Set<string>>();
  for (const { path } of files.filter((file) => /^(services|shared|test)\//.test(file.path))) {
    const parts = path.split('/').filter((part) => !part.startsWith('index.'));
    if (parts.includes('include')) continue;
    for (let depth = 1; depth < parts.length; depth += 1) {
      const folder = parts.slice(0, depth).join('/');
      entries.set(folder, (entries.get(folder) ?? new Set()).add(parts[depth] ?? ''));
    }
  }
  return [...entries]
    .map(([folder, { size }]) => ({ folder, size, max: /^(?:test\/)?shared$/.test(folder) ? MAX_MODULES : MAX_ENTRIES }))
    .filter(({ size, max }) => size > max)
    .map(({ folder, size, max }) => `${folder} has ${size} entries, more than ${max}`);
}

/** What a reader has in a project of their own, by names that other programs gave. */
const READERS_OWN = ['CLAUDE.md'];

export function wordsFromElsewhere(files: readonly SourceFile[]): string[] {
  const known = new Set([...READERS_OWN, ...files.map(({ path }) => basename(path))]);
  return files.flatMap(({ path, text }) => {
    // A document at an address is somebody else's, and can be opened.
    const named = [...text.replaceAll(/https?:\/\/\S+/g, '').matchAll(DOCUMENT)].map(([name]) => name).filter((name) => !known.has(name));
    const matched = ELSEWHERE.flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
    return [...named, ...matched].map((found) => `${path} mentions ${found}`);
  });
}
