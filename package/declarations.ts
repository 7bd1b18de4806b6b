import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { ENTRIES } from './entries.ts';

/** `import type { A, type B as C } from './x.ts';`, also as an export. */
const NAMED = /^(import|export)( type)? \{([^}]*)\} from (['"])([./#][^'"]*)\.ts\4;/gm;
/** `import("#shared/x/index.ts").A`, as the compiler writes a type that the source does not name. */
const INLINE = /\bimport\((['"])([./#][^'"]*)\.ts\1\)\.(\w+)/g;

/**
 * Keeps the declarations that the entries lead to, and no other, and names what they import by the file that is there. The compiler leaves the
 * names of the sources in them. What is imported through a folder's door is imported from where it is declared, so that a name does not bring
 * all that its folder hands out, and the types of packages with it.
 */
export function writeDeclarations(folder: string): void {
  const reached = new Map<string, string>();
  const open = Object.values(ENTRIES).map(({ source }) => join(folder, source.replace(/\.ts$/, '.d.ts')));
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (reached.has(file)) continue;
    const { text, imported } = withFileNames(folder, file);
    reached.set(file, text);
    open.push(...imported);
  }
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, path);
    const text = reached.get(file);
    if (text !== undefined) writeFileSync(file, text);
    else if (path.endsWith('.d.ts')) rmSync(file);
  }
}

function withFileNames(folder: string, file: string): { text: string; imported: string[] } {
  const imported: string[] = [];
  const specifierOf = (target: string): string => {
    imported.push(`${target}.d.ts`);
    const name = relative(dirname(file), target);
    return `${name.startsWith('.') ? name : `./${name}`}.js`;
  };
  const text = readFileSync(file, 'utf8')
    .replaceAll(NAMED, (...found: string[]) => {
      const [, verb, type = '', names = '', , path = ''] = found;
      const places = Map.groupBy(namesIn(names), ({ name }) => declaredIn(folder, file, path, name));
      const lines = [...places].map(([target, those]) => {
        return `${verb}${type} { ${those.map(({ written }) => written).join(', ')} } from '${specifierOf(target)}';`;
      });
      return lines.join('\n');
    })
    .replaceAll(INLINE, (_all, _quote: string, path: string, name: string) => {
      return `import('${specifierOf(declaredIn(folder, file, path, name))}').${name}`;
    });
  const left = /['"][./#][^'"]*\.ts['"]/.exec(text);
  if (left !== null) throw new Error(`${file} imports ${left[0]} in a form that is not known`);
  return { text, imported };
}

function namesIn(text: string): { name: string; written: string }[] {
  const written = text.split(',').map((each) => each.trim());
  return written.filter(Boolean).map((each) => ({ name: each.replace(/^type /, '').split(' as ')[0] ?? '', written: each }));
}

/** The file that declares this name, without its extension: past the doors of folders, which only hand on. A renamed one stays with its door. */
function declaredIn(folder: string, from: string, path: string, name: string): string {
  const target = path.startsWith('#') ? join(folder, path.slice(1)) : join(dirname(from), path);
  const file = `${target}.d.ts`;
  if (!existsSync(file)) throw new Error(`${from} imports ${path}.ts, which has no declaration`);
  if (basename(target) !== 'index') return target;
  for (const [, , , names = '', , next = ''] of readFileSync(file, 'utf8').matchAll(NAMED)) {
    if (namesIn(names).some(({ name: own, written }) => own === name && !written.includes(' as ')))
      return declaredIn(folder, file, next, name);
  }
  return target;
}
