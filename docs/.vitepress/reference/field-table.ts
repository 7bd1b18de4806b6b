import { anchorOf } from '../markdown/anchor-of.ts';
import type { Schema } from './openapi.ts';

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** A table with a row per field; a star marks those that are required. */
export function fieldTable(heading: string, fields: readonly Field[]): string {
  const rows = fields.map(
    ({ name, schema, isRequired }) => `| ${name}${isRequired ? ' \\*' : ''} | ${typeOf(schema)} | ${escaped(schema.description ?? '')} |`,
  );
  return [`| ${heading} | type | meaning |`, '| --- | --- | --- |', ...rows].join('\n');
}

/** The type of a schema in words, with links to named ones. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    return `[${name}](/reference/api-records.md#${anchorOf(name)})`;
  }
  return unionOf(schema) ?? typeWord(schema);
}

/** Of one of several schemas, or of listed values; null for any other schema. */
function unionOf(schema: Schema): string | null {
  const options = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (options !== undefined) return [...new Set(options.map(typeOf))].join(' or ');
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${escaped(String(value))}\``).join(', ');
  return schema.const === undefined ? null : `\`${JSON.stringify(schema.const)}\``;
}

function typeWord(schema: Schema): string {
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object') return `${typeOf(schema.additionalProperties)} by name`;
  const type = schema.type ?? 'anything';
  return typeof type === 'string' ? type : type.join(' or ');
}

/** As a cell of a table takes it, without what could be read as HTML. */
function escaped(text: string): string {
  return text
    .replaceAll('\n', ' ')
    .replaceAll('|', String.raw`\|`)
    .replaceAll('<', '&lt;');
}
