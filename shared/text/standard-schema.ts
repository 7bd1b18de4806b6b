/**
 * A schema of zod, or of another library that follows Standard Schema (https://standardschema.dev). It is read through this interface alone, so
 * that an agent's copy of its library need not be the fleet's.
 */
export interface AgentSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaAnswer<Output> | Promise<SchemaAnswer<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Newer libraries have it. It throws for what JSON Schema cannot say. */
    readonly jsonSchema?: { readonly [Side in 'input' | 'output']: (options: { readonly target: string }) => Record<string, unknown> };
  };
}

type SchemaAnswer<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: SchemaPath }[] };

type SchemaPath = readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;

/** What a value has wrong, and where in it; no names for the value itself. */
export interface SchemaProblem {
  path: string[];
  message: string;
}

/** What a schema makes of a value, or what is wrong with it. */
export type Checked<Output> = { readonly value: Output; readonly problems?: undefined } | { readonly problems: readonly SchemaProblem[] };

export function isAgentSchema(value: unknown): value is AgentSchema {
  const props: unknown =
    (typeof value === 'object' || typeof value === 'function') && value !== null ? Reflect.get(value, '~standard') : null;
  return typeof props === 'object' && props !== null && 'validate' in props && typeof props.validate === 'function';
}

/** Checks a value. A schema that answers by a promise is a mistake of its author: a task is checked before it is accepted, in one step. */
export function checkValue<Output>(schema: AgentSchema<unknown, Output>, value: unknown): Checked<Output> {
  const answer = schema['~standard'].validate(value);
  if (answer instanceof Promise) throw new TypeError('The schema of an agent answers by a promise: expected one that answers at once');
  if (answer.issues === undefined) return { value: answer.value };
  return { problems: answer.issues.map(({ message, path = [] }) => ({ path: path.map(nameIn), message })) };
}

function nameIn(part: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof part === 'object' ? part.key : part);
}

/** The first few problems as a sentence; `root` names the value. */
export function sentenceOf(root: string, problems: readonly SchemaProblem[]): string {
  const shown = problems.slice(0, MAX_IN_SENTENCE).map(({ path, message }) => `${[root, ...path].join('.')}: ${message}`);
  return problems.length > MAX_IN_SENTENCE ? `${shown.join('; ')}; and ${problems.length - MAX_IN_SENTENCE} more` : shown.join('; ');
}

const MAX_IN_SENTENCE = 3;

/**
 * Checks the text of a task: its JSON, or else the text itself, as chats, schedules and webhooks send it. A text that is both is read as JSON,
 * unless the schema refuses that.
 */
export function checkText<Output>(schema: AgentSchema<unknown, Output>, text: string): Checked<Output> {
  const json = parseJson(text);
  const asJson = json === undefined ? undefined : checkValue(schema, json);
  if (asJson?.problems === undefined && asJson !== undefined) return asJson;
  const asText = checkValue(schema, text);
  return asText.problems === undefined ? asText : (asJson ?? asText);
}

/**
 * The text that `checkText` reads as this value, or as the JSON in it where it is a text that the schema refuses as it is. A text stays as it is
 * where that reads back so: people read it.
 */
export function textOf(schema: AgentSchema, value: unknown): Checked<string> {
  const asSent = checkValue(schema, value);
  if (typeof value !== 'string') return asSent.problems === undefined ? { value: JSON.stringify(value) } : asSent;
  if (asSent.problems === undefined) return { value: readsAsJson(schema, value) ? JSON.stringify(value) : value };
  const read = checkText(schema, value);
  return read.problems === undefined ? { value } : read;
}

function readsAsJson(schema: AgentSchema, text: string): boolean {
  const json = parseJson(text);
  return json !== undefined && checkValue(schema, json).problems === undefined;
}

/** Undefined for what is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The schema as JSON Schema; null where it cannot be said. */
export function jsonSchemaOf(schema: AgentSchema | undefined, side: 'input' | 'output'): Record<string, unknown> | null {
  try {
    return schema?.['~standard'].jsonSchema?.[side]({ target: 'draft-2020-12' }) ?? null;
  } catch {
    return null;
  }
}
