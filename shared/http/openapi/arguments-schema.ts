import { z } from 'zod';
import { describeFields, type JsonSchema } from './complete-document.ts';

type Definitions = Readonly<Record<string, JsonSchema>>;

const REFERENCE = '#/$defs/';
/** A schema that refers to itself ends here. */
const MAX_LEVELS = 20;

/**
 * A JSON Schema for callers of another protocol, such as models: every field is explained, nothing is a reference, and what only says how a text is
 * checked is left out. Null, which stands for what is absent, is no form of its own.
 */
export function argumentsSchema(schema: z.ZodObject, component = ''): JsonSchema {
  const made: unknown = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts of JSON Schema that are read here
  const { $defs = {}, ...json } = made as JsonSchema & { $defs?: Definitions };
  const plain = simplify(json, $defs, MAX_LEVELS);
  describeFields(plain, component);
  return plain;
}

function simplify(schema: JsonSchema, definitions: Definitions, levels: number): JsonSchema {
  if (levels === 0) return {};
  const inner = (each: JsonSchema): JsonSchema => simplify(each, definitions, levels - 1);
  const { $ref, anyOf, ...rest } = schema;
  if ($ref !== undefined) return { ...inner(definitions[$ref.slice(REFERENCE.length)] ?? {}), ...kept(rest) };
  const forms = anyOf?.filter(({ type }) => type !== 'null') ?? [];
  const [only, ...others] = forms;
  if (only === undefined) return { ...kept(rest), ...partsOf(rest, inner) };
  return others.length === 0 ? { ...inner(only), ...kept(rest) } : { ...kept(rest), anyOf: forms.map(inner) };
}

function partsOf({ items, properties, additionalProperties }: JsonSchema, inner: (each: JsonSchema) => JsonSchema): JsonSchema {
  return {
    ...(items && { items: inner(items) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, inner(each)])) }),
    ...(additionalProperties === false && { additionalProperties }),
  };
}

const KEPT = new Set([
  'type',
  'description',
  'required',
  'enum',
  'const',
  'default',
  'format',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
]);

function kept(schema: object): object {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => KEPT.has(name)));
}
