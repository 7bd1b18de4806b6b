import { join } from 'node:path';
import { execa } from 'execa';
import type { OpenapiDocument } from '#shared/http/openapi/complete-document.ts';

const HEADER = '// Written by `npm run openapi` from docs/openapi.json.\n\n';

/** The types that openapi-typescript makes of a document, without its examples, which would be most of the text. */
export async function typesOf(document: OpenapiDocument): Promise<string> {
  const input = JSON.stringify(document, (name, value: unknown) => (name === 'example' ? undefined : value));
  const { stdout } = await execa(process.execPath, [join(import.meta.dirname, 'print-typescript.mjs')], { input });
  const text = stdout
    .replaceAll('@description ', '')
    .replaceAll(/^ *\* @enum .*\n/gm, '')
    .replaceAll(/^(?: {4})+/gm, (indent) => ' '.repeat(indent.length / 2));
  return `${HEADER}${text}\n`;
}
