import { z } from 'zod';
import { type ApiAgentDefinition, apiAgentDefinitionSchema, lineSchema } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { invalidRequest, problemsOf } from '#shared/http/index.ts';

/** Accepted by the schema, so that the refusal names the kind. */
const functionAgentSchema = z
  .object({ kind: z.literal('function').meta({ description: 'From the configuration only.' }) })
  .meta({ description: 'From the configuration only.' });
const commandAgentSchema = z
  .object({ kind: z.literal('command').meta({ description: 'From the configuration only.' }) })
  .meta({ description: 'From the configuration only.' });

/** The body of `PUT /v1/agents/:id`. */
export const agentBodySchema = z
  .discriminatedUnion('kind', [...apiAgentDefinitionSchema.options, functionAgentSchema, commandAgentSchema])
  .superRefine(checkDescription)
  .meta({ id: 'AgentDefinition', examples: [{ kind: 'http', url: 'https://writer.example.com/run', secret: 'a-secret-of-yours' }] });

const descriptionSchema = lineSchema.optional();

/** Not by the schema of definitions, which stored agents have to fit as well. */
function checkDescription(agent: object, context: z.RefinementCtx): void {
  const { error } = descriptionSchema.safeParse('description' in agent ? agent.description : undefined);
  for (const { message } of error?.issues ?? []) context.addIssue({ code: 'custom', path: ['description'], message });
}

/** The definition of an agent that a tenant may have by API. Errors: `agent.operator-only`. */
export function ownDefinition(body: z.infer<typeof agentBodySchema>): ApiAgentDefinition {
  if (body.kind !== 'function' && body.kind !== 'command') return body;
  throw new MusterError('agent.operator-only', `Agents of the kind "${body.kind}" run code here and come from the configuration only`);
}

/** The body of `PATCH /v1/agents/:id`. What comes out of it has a schema, which a member alone cannot be held against. */
export const agentPatchSchema = z.record(z.string(), z.unknown()).meta({
  id: 'AgentPatch',
  description: 'Members of `AgentDefinition` to change, each with its new value, or null to remove it.',
  examples: [{ description: 'Writes release notes', maxRunning: 2, timeoutMs: null }],
});
type AgentPatch = z.infer<typeof agentPatchSchema>;

/** The definition with a patch applied. Errors: `agent.operator-only`, `request.invalid`. */
export function patchDefinition(before: ApiAgentDefinition, patch: AgentPatch): ApiAgentDefinition {
  const { data, error } = agentBodySchema.safeParse(mergePatch(before, patch));
  if (error) throw invalidRequest(problemsOf(error, 'body'));
  const after = ownDefinition(data);
  const kept = secretsSentElsewhere(before, after, patch);
  if (kept.length > 0) throw invalidRequest(kept.map((name) => ({ path: `body.${name}`, message: GIVE_AGAIN })));
  return after;
}

const GIVE_AGAIN = 'expected again, or null to remove it, because the new address has another origin';

/** RFC 7396: null removes a member, objects are merged, and everything else replaces. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Secrets that a patch keeps although it changes the server that they are sent to: a person who may change an agent may not read them, and
 * a server of that person's own could.
 */
function secretsSentElsewhere(before: ApiAgentDefinition, after: ApiAgentDefinition, patch: AgentPatch): string[] {
  if (originOf(before) === originOf(after)) return [];
  if (after.kind === 'openai') return after.apiKey !== undefined && !Object.hasOwn(patch, 'apiKey') ? ['apiKey'] : [];
  if (after.kind !== 'http') return [];
  const given = isObject(patch['headers']) ? patch['headers'] : {};
  return Object.keys(after.headers ?? {}).some((name) => !Object.hasOwn(given, name)) ? ['headers'] : [];
}

/** Null for the model API of the installation. */
function originOf(definition: ApiAgentDefinition): string | null {
  const address = definition.kind === 'openai' ? definition.baseUrl : definition.kind === 'http' ? definition.url : undefined;
  return address === undefined ? null : new URL(address).origin;
}
