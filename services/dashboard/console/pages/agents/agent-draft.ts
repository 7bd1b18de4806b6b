import type { Agent } from '../../api/agents.ts';

/** The kinds that can be made by API. */
export const KINDS = [
  { value: 'openai', label: 'Model behind an OpenAI-compatible API' },
  { value: 'http', label: 'HTTP service' },
  { value: 'daemon', label: "Daemon on a person's machine" },
  { value: 'echo', label: 'Echo, for tests' },
] as const;
type Kind = (typeof KINDS)[number]['value'];

/** What the form holds. A number field that is empty holds an empty text. */
export interface Draft {
  id: string;
  kind: Kind;
  description: string;
  model: string;
  /** Of the service, or of the model's API. */
  url: string;
  secret: string;
  system: string;
  capabilities: string;
  maxRunning: number | string;
  timeoutSeconds: number | string;
}

const SECOND_MS = 1000;

const EMPTY: Draft = {
  id: '',
  kind: 'openai',
  description: '',
  model: '',
  url: '',
  secret: '',
  system: '',
  capabilities: '',
  maxRunning: '',
  timeoutSeconds: '',
};

export function draftOf(agent: Agent | null): Draft {
  if (agent === null) return EMPTY;
  return {
    id: agent.id,
    kind: KINDS.find(({ value }) => value === agent.kind)?.value ?? 'openai',
    description: textOf(agent.description),
    model: textOf(agent.model),
    url: textOf(agent.url ?? agent.baseUrl),
    secret: '',
    system: textOf(agent.system),
    capabilities: textOf(agent.capabilities?.join(', ')),
    maxRunning: agent.maxRunning ?? '',
    timeoutSeconds: agent.timeoutMs === null ? '' : agent.timeoutMs / SECOND_MS,
  };
}

function textOf(value: string | null | undefined): string {
  return value ?? '';
}

/** The definition for the API, with the settings of the agent before that the form does not show. */
export function toDefinition(draft: Draft, before: Agent | null): object {
  const { maxRunning, timeoutSeconds } = draft;
  return withoutEmpty({
    kind: draft.kind,
    ...hiddenOf(before),
    description: draft.description,
    ...kindFields(draft),
    maxRunning,
    timeoutMs: typeof timeoutSeconds === 'number' ? timeoutSeconds * SECOND_MS : '',
  });
}

function kindFields({ kind, model, url, secret, system, capabilities }: Draft): object {
  switch (kind) {
    case 'openai':
      return { model, baseUrl: url, apiKey: secret, system };
    case 'http':
      return { url, secret };
    case 'daemon':
      return { capabilities: capabilities.split(',').flatMap((each) => each.trim() || []) };
    case 'echo':
      return {};
  }
}

function hiddenOf(before: Agent | null): object {
  if (before === null) return {};
  const { maxAttempts, retryDelayMs, retryBackoff, retries, directives, temperature, maxOutputTokens, maxSteps, kind } = before;
  // An echo's output is never read for directives.
  const own = kind === 'echo' ? {} : { directives };
  return { maxAttempts, retryDelayMs, retryBackoff, retries, temperature, maxOutputTokens, maxSteps, ...own };
}

function withoutEmpty(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '' && value !== null && value !== undefined));
}
