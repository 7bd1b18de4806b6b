import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './markdown.ts';

const PARTS = {
  'Of the fleet': ['fleet-keys.ts'],
  'Of a shard': ['keys.ts'],
  'Of a tenant': ['tenant-keys.ts', 'openai-keys.ts'],
} as const;
/** A comment of the form that `fleetKeys` explains, and the key under it. */
const KEY = /\/\*\*([^*]*(?:\*(?!\/)[^*]*)*)\*\/\s*\w+:[^`]*`\$\{prefix\}([^`]+)`/g;
const COMMENT = /^(.*?)\.? Written by: (.*?)\. Kept: (.*?)\. Bound: (.*?)\.?$/;

/** A heading for each file that names keys, and the lines under it. */
export function keyLines(): string[] {
  return Object.entries(PARTS).flatMap(([heading, files]) => [`### ${heading}`].concat(files.flatMap(rowsOf)));
}

/** A row for each key that the code names: name, type and content, what writes it, how long it is kept, and what bounds it. */
function rowsOf(file: string): string[] {
  const source = readFileSync(join(ROOT, 'shared/redis', file), 'utf8');
  return [...source.matchAll(KEY)].map(([, comment = '', name = '']) => {
    const text = comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim();
    const [, content = '', writers = '', kept = '', bound = ''] = COMMENT.exec(text) ?? [];
    return `| \`${name.replaceAll(/\$\{(\w+)\}/g, '<$1>')}\` | ${content.replaceAll('|', String.raw`\|`)} | ${writers} | ${kept} | ${bound} |`;
  });
}
