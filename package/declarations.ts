import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ENTRIES } from './entries.ts';

/** What a declaration imports: `from './x.ts'`, `import('#shared/x/index.ts')`. */
const IMPORT = /(\bfrom |\bimport\(|\bimport )(['"])([./#][^'"]*)\.ts\2/g;

/**
 * Keeps the declarations that the entries lead to, and no other, and names what they import by the file that is there. The compiler leaves the
 * names of the sources in them.
 */
export function writeDeclarations(folder: string): void {
  const reached = new Set<string>();
  const open = Object.values(ENTRIES).map((source) => join(folder, source.replace(/\.ts$/, '.d.ts')));
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    const { text, imported } = withFileNames(folder, file);
    writeFileSync(file, text);
    open.push(...imported);
  }
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, path);
    if (path.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
  }
}

function withFileNames(folder: string, file: string): { text: string; imported: string[] } {
  const imported: string[] = [];
  const text = readFileSync(file, 'utf8').replaceAll(IMPORT, (_all, start: string, quote: string, path: string) => {
    const target = path.startsWith('#') ? join(folder, path.slice(1)) : join(dirname(file), path);
    if (!existsSync(`${target}.d.ts`)) throw new Error(`${file} imports ${path}.ts, which has no declaration`);
    imported.push(`${target}.d.ts`);
    const name = relative(dirname(file), target);
    return `${start}${quote}${name.startsWith('.') ? name : `./${name}`}.js${quote}`;
  });
  return { text, imported };
}
