import { type AgentDefinition, inputSchemaOf } from '../../config/index.ts';
import { jsonSchemaOf } from '../../text/index.ts';
import type { ToolSpec } from './tool-spec.ts';

/** A JSON Schema as tools have it: JSON, without a dialect of its own, which is that of all tools. */
export function asSchema(schema: Readonly<Record<string, unknown>>): ToolSpec['schema'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what comes back from JSON is JSON
  const { $schema: _dialect, ...rest } = JSON.parse(JSON.stringify(schema)) as ToolSpec['schema'];
  return rest;
}

/** What an agent takes as a tool, whose input is always an object: its own object, or one field of it. */
export type AgentInput = { readonly schema: ToolSpec['schema'] } | { readonly input: ToolSpec['schema'] };

/** What an agent takes, from its schema; a text where it has none. */
export function agentInput(definition: AgentDefinition, description: string): AgentInput {
  const own = inputSchemaOf(definition);
  if (own === undefined) return { input: { type: 'string', description } };
  const schema = jsonSchemaOf(own, 'input');
  // Its library cannot say it so.
  if (schema === null) return { input: { description: 'JSON that fits the schema of the agent.' } };
  return schema['type'] === 'object' ? { schema: asSchema(schema) } : { input: asSchema(schema) };
}

/** A tool whose input is one required field, and `others`. */
export function schemaOfField(input: ToolSpec['schema'], others: Readonly<Record<string, ToolSpec['schema']>> = {}): ToolSpec['schema'] {
  return { type: 'object', properties: { input, ...others }, required: ['input'], additionalProperties: false };
}
