import type { Hook } from '#shared/client/openapi.gen.ts';

export const PROVIDERS = ['github', 'gitlab', 'stripe', 'slack', 'standard', 'hmac', 'none'] as const satisfies readonly Provider[];
export type Provider = Hook['provider'];

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

/** The hooks or deliveries that are listed: more than a person reads, and the API's largest page. */
export const HOOKS_SHOWN = 200;

/** What it means that the `/schedule` lines of answers to a hook's events are applied. */
export const DIRECTIVES_WARNING =
  'Whoever can send to this hook, or write what its events hold, can then have schedules made, and those that came of it paused and cancelled.';

/** Whether the sender hands over the secret, so that we make none. */
export const handsOverSecret = (options: Readonly<Record<string, unknown>> | null): boolean => SECRET_GIVERS.has(options?.['handshake']);

const SECRET_BYTES = 32;

/** A random secret in the form that the provider's hooks have. */
export function randomSecret(provider: Provider): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  if (provider === 'standard') return `whsec_${btoa(String.fromCodePoint(...bytes))}`;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
