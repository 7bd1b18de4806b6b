import { FIELD_DESCRIPTIONS } from './field-descriptions.ts';

/** As much of a JSON schema as is read here. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  minLength?: number;
  description?: string;
  examples?: unknown[];
}

export interface Media {
  schema?: JsonSchema;
  example?: unknown;
}

type Contents = Record<string, Media>;

interface Operation {
  operationId: string;
  parameters?: { name: string; description?: string; schema?: JsonSchema }[];
  requestBody?: { content: Contents };
  responses: Record<string, { content?: Contents }>;
}

export interface OpenapiDocument {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
}

/**
 * Adds names and examples to bodies, and descriptions to fields, where their schemas have none. Generated clients get named types, and
 * readers find each field explained.
 */
export function completeDocument(document: OpenapiDocument): OpenapiDocument {
  const { schemas } = document.components;
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  for (const operation of operations) {
    nameBodies(operation, schemas);
    describeParameters(operation);
  }
  for (const [name, schema] of Object.entries(schemas)) describeFields(schema, name.replace(/Output$/, ''));
  for (const media of operations.flatMap((operation) => jsonBodiesOf(operation))) addExample(media, schemas);
  return document;
}

/** The JSON bodies of an operation's request and answers. */
function jsonBodiesOf({ requestBody, responses }: Operation): Media[] {
  const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)];
  return contents.flatMap((content) => content?.['application/json'] ?? []);
}

function addExample(media: Media, schemas: Record<string, JsonSchema>): void {
  if (media.schema) media.example ??= exampleOf(media.schema, schemas);
}

function describeParameters({ parameters = [] }: Operation): void {
  for (const parameter of parameters) parameter.description ??= descriptionOf(parameter.schema ?? {}, parameter.name) ?? '';
}

function nameBodies({ operationId, requestBody, responses }: Operation, schemas: Record<string, JsonSchema>): void {
  const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
  nameSchemas(requestBody?.content ?? {}, `${name}Request`, schemas);
  for (const [status, { content = {} }] of Object.entries(responses)) {
    if (status.startsWith('2')) nameSchemas(content, `${name}Answer`, schemas, status);
  }
}

/** Answers of several statuses share a component as long as they are alike. */
function nameSchemas(content: Contents, name: string, schemas: Record<string, JsonSchema>, status = ''): void {
  for (const [type, media] of Object.entries(content)) {
    if (type !== 'application/json' || media.schema === undefined || media.schema.$ref !== undefined) continue;
    const known = schemas[name];
    const free = known === undefined || JSON.stringify(known) === JSON.stringify(media.schema) ? name : `${name}${status}`;
    schemas[free] = media.schema;
    media.schema = { $ref: `${REFERENCE}${free}` };
  }
}

/** Adds what each field means, where its schema does not say it itself. */
export function describeFields(schema: JsonSchema, component: string): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const description = field.$ref === undefined ? descriptionOf(field, name, component) : undefined;
    if (description !== undefined) field.description = description;
    describeFields(field, component);
  }
  for (const each of innerOf(schema)) describeFields(each, component);
}

/** The schemas of what is in a value of this schema, besides its named fields, and of the forms that it may have. */
export function innerOf({ items, additionalProperties, anyOf = [], oneOf = [], allOf = [] }: JsonSchema): JsonSchema[] {
  return [items, additionalProperties, ...anyOf, ...oneOf, ...allOf].filter((each) => typeof each === 'object');
}

/** What a schema says itself, also of the form that is not null, comes before what the name means. */
function descriptionOf(schema: JsonSchema, name: string, component = ''): string | undefined {
  const own = schema.description ?? (schema.anyOf ?? schema.oneOf)?.find(({ description }) => description !== undefined)?.description;
  return own ?? FIELD_DESCRIPTIONS[`${component}.${name}`] ?? FIELD_DESCRIPTIONS[name];
}

type Schemas = Readonly<Record<string, JsonSchema>>;

const REFERENCE = '#/components/schemas/';

/** An example of a schema: its own, else one made of the examples of its fields. */
function exampleOf(schema: JsonSchema, schemas: Schemas): unknown {
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
