import type { AgentDefinition, AgentPatch } from '#shared/client/openapi.gen.ts';
import { ApiProblem, bodyProblems } from '../../api/api-problem.ts';

/** The kinds that can be made by API. */
export const KINDS = [
  { value: 'openai', label: 'Model behind an OpenAI-compatible API' },
  { value: 'http', label: 'HTTP service' },
  { value: 'daemon', label: "Daemon on a person's machine" },
  { value: 'echo', label: 'Echo, for tests' },
] as const;
type Kind = (typeof KINDS)[number]['value'];

/** What the form shows of an agent. */
export interface ShownAgent {
  readonly id: string;
  readonly kind: string;
  readonly description: string | null;
  readonly model?: string | undefined;
  readonly url?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly system?: string | undefined;
  readonly capabilities?: readonly string[] | undefined;
  readonly maxRunning: number | null;
  readonly timeoutMs: number | null;
}

/** What the form holds. A number field that is empty holds an empty text. */
export interface Draft {
  id: string;
  kind: Kind;
  description: string;
  model: string;
  /** Of the service, or of the model's API. */
  url: string;
  /** Null to remove that of the agent. Empty: as it is. */
  secret: string | null;
  system: string;
  capabilities: string;
  maxRunning: number | string;
  timeoutSeconds: number | string;
}

export const SECOND_MS = 1000;

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

export function draftOf(agent: ShownAgent | null): Draft {
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

/** The definition of a new agent. */
export function toDefinition(draft: Draft): AgentDefinition {
  const filled = Object.fromEntries(Object.entries(membersOf(draft)).filter(([, value]) => value !== '' && value !== null));
  // The members go with the kind; what is missing the API says.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return filled as unknown as AgentDefinition;
}

/**
 * The members that a person changed, and no others: the definition has some that no answer shows, and addresses are shown without their
 * login and query.
 */
export function changesOf(before: Draft, after: Draft): AgentPatch {
  const former = new Map(Object.entries(membersOf(before)));
  const changed = Object.entries(membersOf(after)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(former.get(name)));
  return Object.fromEntries(changed.map(([name, value]) => [name, value === '' ? null : value]));
}

type Value = string | number | readonly string[] | null;

/** As the API has them; an empty field is an empty text. */
function membersOf(draft: Draft): Readonly<Record<string, Value>> {
  const { kind, description, maxRunning, timeoutSeconds } = draft;
  const timeoutMs = typeof timeoutSeconds === 'number' ? Math.round(timeoutSeconds * SECOND_MS) : '';
  return { kind, description, ...membersOfKind(draft), maxRunning, timeoutMs };
}

function membersOfKind({ kind, model, url, secret, system, capabilities }: Draft): Readonly<Record<string, Value>> {
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

/** The error text of each field. */
export type FieldProblems = Partial<Record<keyof Draft, string>>;

/** The field that shows a member of the definition. */
const FIELDS: Readonly<Record<string, keyof Draft>> = {
  description: 'description',
  model: 'model',
  url: 'url',
  baseUrl: 'url',
  secret: 'secret',
  apiKey: 'secret',
  system: 'system',
  capabilities: 'capabilities',
  maxRunning: 'maxRunning',
  timeoutMs: 'timeoutSeconds',
};

/** The problems of an error by field; null when it is about something else too. */
export function fieldProblems(error: unknown): FieldProblems | null {
  if (!(error instanceof ApiProblem)) return null;
  if (error.code === 'agent.exists' || error.code === 'agent.operator-only') return { id: `${error.message}.` };
  const found = bodyProblems(error).map(([member, text]) => [FIELDS[member.split('.')[0] ?? ''], text] as const);
  if (found.length === 0 || found.some(([field]) => field === undefined)) return null;
  return Object.fromEntries(found);
}
