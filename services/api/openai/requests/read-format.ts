import { z } from 'zod';
import type { AnswerFormat } from '#shared/tasks/index.ts';
import { given } from './given.ts';
import { problemOfSchema } from './check-schema.ts';
import { wrong } from './read-content.ts';

/** What an answer has to be. Its fields are read for what it is. */
export const formatSchema = z.looseObject({ type: z.string() }).nullable().optional();
export type GivenFormat = z.infer<typeof formatSchema>;

const describedSchema = z.looseObject({
  name: z.string().regex(/^[\w-]{1,64}$/, 'expected 1 to 64 letters, digits, "_" and "-"'),
  description: z.string().max(4000).nullable().optional(),
  schema: z.record(z.string(), z.unknown()).nullable().optional(),
  strict: z.boolean().nullable().optional(),
});

/** What an answer has to be; undefined for text. `param` is the field that says it. Errors: `request.invalid`. */
export function readFormat(format: GivenFormat, param: string): AnswerFormat | undefined {
  const { type = 'text' } = format ?? {};
  if (type === 'text') return undefined;
  if (type === 'json_object') return { schema: null };
  if (type !== 'json_schema') throw wrong(param, `expected the type "text", "json_object" or "json_schema", not "${type.slice(0, 50)}"`);
  // A chat has the fields of it one level deeper.
  return param === 'response_format' ? readSchema(format?.['json_schema'], 'response_format.json_schema') : readSchema(format, param);
}

function readSchema(described: unknown, param: string): AnswerFormat {
  const read = describedSchema.safeParse(described);
  if (!read.success) throw wrong(param, read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '));
  const { name, description, schema = null, strict } = read.data;
  const problem = schema && problemOfSchema(schema, '');
  if (problem) throw wrong(`${param}.schema`, problem);
  return { schema, name, ...given({ description, isStrict: strict }) };
}

/** As a response repeats it. */
export function formatField(format: AnswerFormat | undefined): object {
  if (format === undefined) return { type: 'text' };
  const { schema, name = 'response', description = null, isStrict: strict = false } = format;
  return schema === null ? { type: 'json_object' } : { type: 'json_schema', name, description, schema, strict };
}
