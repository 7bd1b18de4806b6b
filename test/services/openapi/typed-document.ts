import { join } from 'node:path';
import { execa } from 'execa';
import type { Media, OpenapiDocument } from '#shared/http/openapi/complete-document.ts';

const HEADER = '// Written by `npm run openapi` from docs/openapi.json.\n\n';

/** The types that openapi-typescript makes of a document, without its examples, which would be most of the text. */
export async function typesOf(document: OpenapiDocument): Promise<string> {
  // A body with its schema, and no schema that has a field of this name.
  const input = JSON.stringify(document, (_name, value: unknown) => (isBody(value) ? { ...value, example: undefined } : value));
  const { stdout } = await execa(process.execPath, [join(import.meta.dirname, 'print-typescript.mjs')], { input });
  const text = stdout
    .replaceAll('@description ', '')
    .replaceAll(/^ *\* @enum .*\n/gm, '')
    .replaceAll(/^(?: {4})+/gm, (indent) => ' '.repeat(indent.length / 2));
  return `${HEADER}${text}\n`;
}

function isBody(value: unknown): value is Media {
  return typeof value === 'object' && value !== null && 'example' in value && 'schema' in value;
}
