const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/** What a keyword of JSON Schema has to have, as far as an endpoint would refuse it: else the task would fail there. */
const KEYWORDS: Readonly<Record<string, (value: unknown, path: string) => string | null>> = {
  type: (value, path) => {
    const wrong = (Array.isArray(value) ? value : [value]).find((each) => !TYPES.has(each));
    return wrong === undefined ? null : `${path}: ${JSON.stringify(wrong).slice(0, 50)} is no type of JSON Schema`;
  },
  properties: byName,
  $defs: byName,
  definitions: byName,
  patternProperties: byName,
  items: (value, path) => (Array.isArray(value) ? listed(value, path) : problemOfSchema(value, path)),
  additionalProperties: problemOfSchema,
  not: problemOfSchema,
  anyOf: listed,
  oneOf: listed,
  allOf: listed,
  required: (value, path) => (isList(value) && value.every((each) => typeof each === 'string') ? null : `${path}: expected names`),
  enum: (value, path) => (isList(value) ? null : `${path}: expected a list`),
};

/** What is wrong with a JSON Schema, and where; null for one that can be one. */
export function problemOfSchema(schema: unknown, path: string): string | null {
  if (typeof schema === 'boolean') return null;
  if (!isObject(schema)) return `${path}: expected a schema`;
  for (const [name, value] of Object.entries(schema)) {
    const problem = Object.hasOwn(KEYWORDS, name) ? (KEYWORDS[name]?.(value, path === '' ? name : `${path}.${name}`) ?? null) : null;
    if (problem !== null) return problem;
  }
  return null;
}

function byName(value: unknown, path: string): string | null {
  if (!isObject(value)) return `${path}: expected schemas by their names`;
  return firstOf(Object.entries(value), ([name, schema]) => problemOfSchema(schema, `${path}.${name}`));
}

function listed(value: unknown, path: string): string | null {
  if (!isList(value)) return `${path}: expected a list of schemas`;
  return firstOf(value, (schema, at) => problemOfSchema(schema, `${path}[${at}]`));
}

function firstOf<Value>(values: readonly Value[], problemOf: (value: Value, at: number) => string | null): string | null {
  for (const [at, value] of values.entries()) {
    const problem = problemOf(value, at);
    if (problem !== null) return problem;
  }
  return null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}
