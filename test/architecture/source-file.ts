import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';

/** One file of the repository as the rules see it. */
export interface SourceFile {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
}

export interface Import {
  /** As written: `bullmq`, `#shared/time/clock.ts`, `./wait.ts`. */
  readonly specifier: string;
  /** The file it means, from the root of the repository; undefined for a package. */
  readonly target: string | undefined;
}

const FOLDERS = ['package', 'services', 'shared', 'test', 'agents', 'docs', 'k8s', '.github', '.ci'];
const READ = /\.(tsx?|mjs|lua|json|md|ya?ml)$|(^|\/)(Dockerfile|run)$/;
const SKIPPED = new Set(['node_modules', 'dist', '.muster', 'package-lock.json']);
/** Written by a program from texts that are read. */
const GENERATED = /\.gen\.ts$/;

/** Reads the sources of the repository at `root`. */
export function readSources(root: string): SourceFile[] {
  const top = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile() && !SKIPPED.has(entry.name));
  const below = FOLDERS.flatMap((folder) => readdirSync(join(root, folder), { withFileTypes: true, recursive: true })).filter(
    (entry) => entry.isFile() && !SKIPPED.has(entry.name),
  );
  return [...top, ...below]
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => READ.test(path) && !GENERATED.test(path) && !path.split('/').some((part) => SKIPPED.has(part)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

export function isModule(file: SourceFile): boolean {
  return /\.(tsx?|mjs)$/.test(file.path);
}

/** A statement starts its line, which the formatter sees to; `import()` and `require()` may stand anywhere. */
const STATEMENT = /^[ \t]*(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*['"]([^'"]+)['"]/gm;
const CALL = /\b(?:import|require|require\.resolve)\(\s*['"]([^'"]+)['"]/g;

/** Everything a module imports or re-exports: values, types, and what it loads later. */
export function importsOf(file: SourceFile): Import[] {
  const code = withoutCommentLines(file.text);
  return [STATEMENT, CALL].flatMap((pattern) =>
    [...code.matchAll(pattern)].map(([, specifier = '']) => ({ specifier, target: targetOf(file.path, specifier) })),
  );
}

/** The text without the lines that are comments, keeping the line numbers. */
export function withoutCommentLines(text: string): string {
  return text.replaceAll(/^[ \t]*(?:\/\/|\/\*|\*).*$/gm, '');
}

function targetOf(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('#shared/')) return specifier.slice(1);
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  return undefined;
}
