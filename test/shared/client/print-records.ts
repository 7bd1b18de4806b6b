import { format } from 'oxfmt';

/** What is read of a schema of OpenAPI 3.1. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  description?: string;
}

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

export interface Document {
  paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>;
  components: { schemas: Record<string, Schema> };
}

/** One file of types: the components in it, and the operations whose queries are in it. */
export interface RecordFile {
  says: string;
  components: readonly string[];
  queries?: readonly string[];
}

const options = { printWidth: 140, singleQuote: true } as const;

/** The text of each file, by its name: a type for each component and query, with the document's descriptions. */
export async function printRecords(document: Document, files: Readonly<Record<string, RecordFile>>): Promise<Map<string, string>> {
  const homes = new Map(Object.entries(files).flatMap(([file, { components }]) => components.map((name) => [name, file] as const)));
  const printed = new Map<string, string>();
  for (const [file, { says, components, queries = [] }] of Object.entries(files)) {
    const refs = new Set<string>();
    const types = [
      ...components.map((name) => printType(name, schemaOf(document, name), refs)),
      ...queries.map((operationId) => printType(queryName(operationId), querySchema(document, operationId), refs)),
    ];
    const text = [`// Written by \`npm run openapi\` from docs/openapi.json. ${says}`, ...importsOf(file, refs, homes), ...types];
    const { code, errors } = await format(file, text.join('\n\n'), options);
    if (errors.length > 0) throw new Error(`${file} cannot be formatted: ${JSON.stringify(errors)}`);
    printed.set(file, code);
  }
  return printed;
}

function schemaOf({ components }: Document, name: string): Schema {
  const schema = components.schemas[name];
  if (!schema) throw new Error(`docs/openapi.json has no component ${name}`);
  return schema;
}

function queryName(operationId: string): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Query`;
}

/** The filters of a list as one object. Its pages are the client's concern. */
function querySchema({ paths }: Document, operationId: string): Schema {
  const operation = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .find((each) => each.operationId === operationId);
  if (!operation) throw new Error(`docs/openapi.json has no operation ${operationId}`);
  const parameters = (operation.parameters ?? []).filter(({ in: place, name }) => place === 'query' && name !== 'cursor');
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description }) => [name, { ...schema, ...(description ? { description } : {}) }]),
  );
  return { type: 'object', properties, required: parameters.filter(({ required }) => required).map(({ name }) => name) };
}

function importsOf(file: string, refs: ReadonlySet<string>, homes: ReadonlyMap<string, string>): string[] {
  const byHome = Map.groupBy(
    [...refs].filter((name) => homes.get(name) !== file),
    (name) => homes.get(name) ?? unknownHome(name, file),
  );
  return [...byHome].map(([home, names]) => `import type { ${names.toSorted().join(', ')} } from './${home}';`);
}

function unknownHome(name: string, file: string): never {
  throw new Error(`${file} needs the component ${name}, which no file has`);
}

function printType(name: string, schema: Schema, refs: Set<string>): string {
  const isPlain = schema.properties !== undefined && schema.anyOf === undefined;
  const head = isPlain ? `export interface ${name} ` : `export type ${name} = `;
  return `${comment(schema)}${head}${typeOf(schema, refs)}${isPlain ? '' : ';'}`;
}

function comment({ description }: Schema): string {
  return description === undefined ? '' : `/** ${description.replaceAll('*/', '* /')} */\n`;
}

function typeOf(schema: Schema, refs: Set<string>): string {
  const { $ref, anyOf, oneOf, allOf } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    refs.add(name);
    return name;
  }
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return union(schema.enum.map((value) => literal(value)));
  const parts = anyOf ?? oneOf;
  if (parts) return union(parts.map((part) => typeOf(part, refs)));
  if (allOf) return allOf.map((part) => `(${typeOf(part, refs)})`).join(' & ');
  return union([schema.type ?? 'unknown'].flat().map((type) => typeNamed(type, schema, refs)));
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", String.raw`\'`)}'` : JSON.stringify(value);
}

function union(parts: readonly string[]): string {
  // A part may be a union itself.
  return [...new Set(parts.flatMap((part) => (/^[\w' |.-]+$/.test(part) ? part.split(' | ') : part)))].join(' | ');
}

function typeNamed(type: string, schema: Schema, refs: Set<string>): string {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array':
      return `(${typeOf(schema.items ?? {}, refs)})[]`;
    case 'object':
      return objectOf(schema, refs);
    default:
      return type;
  }
}

function objectOf({ properties, required = [], additionalProperties }: Schema, refs: Set<string>): string {
  if (!properties) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, refs) : 'unknown';
    return `Record<string, ${values}>`;
  }
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    // Callers may hand on what they do not have, also under `exactOptionalPropertyTypes`.
    const type = isRequired ? typeOf(schema, refs) : union([typeOf(schema, refs), 'undefined']);
    return `${comment(schema)}${/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)}${isRequired ? '' : '?'}: ${type};`;
  });
  return `{\n${fields.join('\n')}\n}`;
}
