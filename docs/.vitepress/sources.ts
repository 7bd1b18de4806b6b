import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../..');

/** Files outside of `docs/` that are pages of the site too. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  '.github/GLOSSARY.md': 'reference/glossary.md',
  'CHANGELOG.md': 'reference/changelog.md',
  'README.md': 'index.md',
  ...Object.fromEntries(readmes().map((name) => [`services/${name}/README.md`, `reference/service-${name}.md`])),
};

function readmes(): string[] {
  return readdirSync(join(ROOT, 'services'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /^[^/]+\/README\.md$/.test(path))
    .map((path) => path.slice(0, path.indexOf('/')))
    .toSorted();
}

/** The page of the site that a file of the repository is, or null. */
export function pageOf(file: string): string | null {
  const inDocs = /^docs\/([\w-]+\.md)$/.exec(file)?.[1];
  return inDocs ?? ELSEWHERE[file] ?? null;
}

/** The file of the repository that a page of the site is made of. */
export function sourceOf(page: string): string {
  return Object.entries(ELSEWHERE).find(([file, itsPage]) => itsPage === page && file !== 'README.md')?.[0] ?? `docs/${page}`;
}

export function readSource(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
