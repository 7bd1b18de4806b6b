import type { JsonSchema } from './complete-document.ts';

type Schemas = Readonly<Record<string, JsonSchema>>;

export const REFERENCE = '#/components/schemas/';

/** An example of a schema: its own, else one made of the examples of its fields. */
export function exampleOf(schema: JsonSchema, schemas: Schemas): unknown {
  if (schema.$ref !== undefined) return exampleOf(schemas[schema.$ref.slice(REFERENCE.length)] ?? {}, schemas);
  return ownExample(schema) ?? exampleOfForm(schema, schemas);
}

function exampleOfForm(schema: JsonSchema, schemas: Schemas): unknown {
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms) return exampleOf(forms.find(({ type }) => type !== 'null') ?? {}, schemas);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((each) => exampleOf(each, schemas)));
  const [type = 'object'] = [schema.type ?? []].flat();
  return BY_TYPE[type]?.(schema, schemas);
}

function ownExample(schema: JsonSchema): unknown {
  return schema.examples?.[0] ?? schema.const ?? schema.enum?.[0] ?? schema.default;
}

const number = ({ minimum = 1 }: JsonSchema): number => Math.max(1, minimum);

const BY_TYPE: Readonly<Record<string, (schema: JsonSchema, schemas: Schemas) => unknown>> = {
  array: ({ items = {} }, schemas) => [exampleOf(items, schemas)],
  boolean: () => true,
  integer: number,
  null: () => null,
  number,
  object: exampleObject,
  string: exampleText,
};

function exampleObject({ properties = {}, required = [] }: JsonSchema, schemas: Schemas): Record<string, unknown> {
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {}, schemas)]));
}

function exampleText({ format, minLength = 0 }: JsonSchema): string {
  if (format === 'date-time') return '2026-05-01T09:00:00.000Z';
  if (format === 'uri') return 'https://example.com/hook';
  return 'text'.padEnd(minLength, '-');
}
