import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './markdown.ts';

const FILES = ['fleet-keys.ts', 'keys.ts', 'tenant-keys.ts'];
/** A comment of the form that `fleetKeys` explains, and the key under it. */
const KEY = /\/\*\*([^*]*(?:\*(?!\/)[^*]*)*)\*\/\s*\w+:[^`]*`\$\{prefix\}([^`]+)`/g;
const COMMENT = /^(.*?)\.? Kept: (.*?)\. Bound: (.*?)\.?$/;

/** A row for each key that the code names: name, type and content, how long it is kept, and what bounds it. */
export function keyRows(): string[] {
  const source = FILES.map((file) => readFileSync(join(ROOT, 'shared/redis', file), 'utf8')).join('\n');
  return [...source.matchAll(KEY)].map(([, comment = '', name = '']) => {
    const text = comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim();
    const [, content = '', kept = '', bound = ''] = COMMENT.exec(text) ?? [];
    return `| \`${name.replaceAll(/\$\{(\w+)\}/g, '<$1>')}\` | ${content.replaceAll('|', String.raw`\|`)} | ${kept} | ${bound} |`;
  });
}
