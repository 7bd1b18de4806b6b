import { z } from 'zod';
import type { CatalogEntry } from '#shared/agents/index.ts';
import type { AgentDefinition } from '#shared/config/index.ts';

/** An agent as callers see it. Named parts only, so that what is added to a definition stays unseen until it is named here. */
export const agentViewSchema = z
  .strictObject({
    id: z.string(),
    origin: z.enum(['config', 'api']).meta({ description: '`config`: of the installation; `api`: made by the tenant.' }),
    kind: z.enum(['echo', 'function', 'openai', 'http', 'command']),
    description: z.string().nullable(),
    timeoutMs: z.int().nullable(),
    maxAttempts: z.int().nullable(),
    retryDelayMs: z.int().nullable(),
    retryBackoff: z.enum(['exponential', 'linear']).nullable(),
    writs: z.boolean().meta({ description: 'Whether `/schedule` lines in its output are carried out.' }),
    baseUrl: z.string().optional(),
    model: z.string().optional(),
    system: z.string().optional(),
    temperature: z.number().optional(),
    maxOutputTokens: z.int().optional(),
    maxSteps: z.int().optional(),
    url: z.string().optional(),
    hasSecret: z.boolean().optional().meta({ description: 'Whether a key or secret is set; it is never shown.' }),
  })
  .meta({ id: 'Agent' });
export type AgentView = z.infer<typeof agentViewSchema>;

/** The agent without keys, secrets, headers, environment, commands and files. */
export function viewAgent({ id, origin, definition }: CatalogEntry): AgentView {
  return {
    id,
    origin,
    kind: definition.kind,
    description: definition.description ?? null,
    timeoutMs: definition.timeoutMs ?? null,
    maxAttempts: definition.maxAttempts ?? null,
    retryDelayMs: definition.retryDelayMs ?? null,
    retryBackoff: definition.retryBackoff ?? null,
    writs: definition.kind !== 'echo' && definition.writs !== false,
    ...ownParts(definition),
  };
}

function ownParts(definition: AgentDefinition): Partial<AgentView> {
  if (definition.kind === 'openai') {
    const { model, baseUrl, system, temperature, maxOutputTokens, maxSteps, apiKey } = definition;
    return {
      model,
      ...(baseUrl === undefined ? {} : { baseUrl: withoutLogin(baseUrl) }),
      ...(system === undefined ? {} : { system }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(maxSteps === undefined ? {} : { maxSteps }),
      hasSecret: apiKey !== undefined,
    };
  }
  if (definition.kind === 'http') return { url: withoutLogin(definition.url), hasSecret: definition.secret !== undefined };
  return {};
}

/** Addresses may carry a password, or a token in the query. */
function withoutLogin(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}
