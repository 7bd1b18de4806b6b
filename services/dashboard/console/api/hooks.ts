import { z } from 'zod';
import { callApi } from './call-api.ts';
import { listOf } from './records.ts';

export const PROVIDERS = ['github', 'gitlab', 'stripe', 'slack', 'standard', 'hmac', 'none'] as const;
export type Provider = (typeof PROVIDERS)[number];

/** Who sends, for people. */
export const PROVIDER_TEXTS: Readonly<Record<Provider, string>> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  stripe: 'Stripe',
  slack: 'Slack',
  standard: 'Standard Webhooks',
  hmac: 'Another sender, signed by HMAC',
  none: 'Another sender, unsigned',
};

/** The senders whose check of a new address a hook can answer. */
export const HANDSHAKES = [
  'adobe',
  'asana',
  'cloud-events',
  'dropbox',
  'event-grid',
  'fitbit',
  'intercom',
  'lark',
  'line',
  'linkedin',
  'meta',
  'microsoft-graph',
  'miro',
  'monday',
  'notion',
  'nylas',
  'okta',
  'oura',
  'ringcentral',
  'slack',
  'smartsheet',
  'sns',
  'strava',
  'trello',
  'twitch',
  'websub',
  'x',
  'xero',
  'zoom',
] as const;
/** Of these, who hand over the hook's secret by it. */
const SECRET_GIVERS: ReadonlySet<unknown> = new Set(['asana', 'notion']);

const hookSchema = z.object({
  id: z.string(),
  name: z.string().nullable(),
  provider: z.enum(PROVIDERS),
  agent: z.string(),
  template: z.string().nullable(),
  session: z.string().nullable(),
  options: z.record(z.string(), z.unknown()).nullable(),
  formerSecretUntil: z.string().nullable(),
  /** A server of an older release does not say. */
  directives: z.boolean().default(false),
  enabled: z.boolean(),
  path: z.string(),
  createdAt: z.string(),
});
export type Hook = z.infer<typeof hookSchema>;

const deliverySchema = z.object({
  id: z.string(),
  at: z.string(),
  verdict: z.enum(['accepted', 'repeated', 'handshake', 'refused']),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  origin: z.enum(['sender', 'test', 'replay']),
  event: z.string().nullable(),
  delivery: z.string().nullable(),
  identity: z.enum(['id', 'signed', 'none']).nullable(),
  taskId: z.string().nullable(),
  bytes: z.number().nullable(),
  mayReplay: z.boolean(),
});
export type HookDelivery = z.infer<typeof deliverySchema>;
const detailSchema = deliverySchema.extend({ payload: z.string() });
export type HookDeliveryDetail = z.infer<typeof detailSchema>;

export interface NewHook {
  provider: Provider;
  agent: string;
  name?: string;
  secret?: string;
  template?: string;
  session?: string;
  options?: Record<string, unknown>;
  directives?: boolean;
}

/** What it means that the `/schedule` lines of answers to a hook's events are applied. */
export const DIRECTIVES_WARNING =
  'Whoever can send to this hook, or write what its events hold, can then have schedules made, and those that came of it paused and cancelled.';

const hooksSchema = listOf(hookSchema);
const deliveriesSchema = listOf(deliverySchema);
const madeSchema = z.object({ id: z.string() });
/** The hooks or deliveries that are listed: more than a person reads, and the API's largest page. */
export const HOOKS_SHOWN = 200;

export const HOOKS_KEY = ['hooks'] as const;
export const hookKey = (id: string): readonly string[] => [...HOOKS_KEY, id];

const pathOf = (id: string): string => `/v1/hooks/${encodeURIComponent(id)}`;

export const readHooks = async (signal: AbortSignal): Promise<Hook[]> =>
  (await callApi(hooksSchema, `/v1/hooks?limit=${HOOKS_SHOWN}`, { signal })).items;

export const readHook = (id: string, signal: AbortSignal): Promise<Hook> => callApi(hookSchema, pathOf(id), { signal });

export const createHook = (hook: NewHook): Promise<Hook> => callApi(hookSchema, '/v1/hooks', { method: 'POST', body: hook });

export const changeHook = (
  id: string,
  changes: { enabled?: boolean; directives?: boolean; secret?: string; keepFormerSecret?: boolean },
): Promise<Hook> => callApi(hookSchema, pathOf(id), { method: 'PATCH', body: changes });

export const deleteHook = (id: string): Promise<null> => callApi(z.null(), pathOf(id), { method: 'DELETE' });

export const readHookDeliveries = async (id: string, signal: AbortSignal): Promise<HookDelivery[]> =>
  (await callApi(deliveriesSchema, `${pathOf(id)}/deliveries?limit=${HOOKS_SHOWN}`, { signal })).items;

export const readHookDelivery = (id: string, delivery: string, signal: AbortSignal): Promise<HookDeliveryDetail> =>
  callApi(detailSchema, `${pathOf(id)}/deliveries/${encodeURIComponent(delivery)}`, { signal });

export const replayDelivery = (id: string, delivery: string): Promise<{ id: string }> =>
  callApi(madeSchema, `${pathOf(id)}/deliveries/${encodeURIComponent(delivery)}/replay`, { method: 'POST' });

export const testHook = (id: string, event: string, payload: unknown): Promise<{ id: string }> =>
  callApi(madeSchema, `${pathOf(id)}/test`, { method: 'POST', body: { event, payload } });

/** Whether the sender hands over the secret, so that we make none. */
export const handsOverSecret = (options: Readonly<Record<string, unknown>> | null): boolean => SECRET_GIVERS.has(options?.['handshake']);

const SECRET_BYTES = 32;

/** A random secret in the form that the provider's hooks have. */
export function randomSecret(provider: Provider): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  if (provider === 'standard') return `whsec_${btoa(String.fromCodePoint(...bytes))}`;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
