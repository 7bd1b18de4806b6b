import { createHash } from 'node:crypto';
import type { Settings } from '../config/index.ts';
import { Recent } from '../time/index.ts';

/** What a model of an account may be called; what is absent is learned. */
export interface ProviderLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  readonly concurrent?: number | undefined;
}

/** Who pays a provider, and where. */
export interface ProviderAccount {
  /** A provider's name in the configuration, else a digest of address and key, which people never see: see `accountLabel`. */
  readonly name: string;
  /** The origin of its address. */
  readonly endpoint: string;
  readonly limits: ProviderLimits;
}

interface CalledEndpoint {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Whether the agent is of the configuration: a tenant's own key is another account at the same address. */
  readonly isOperators: boolean;
}

/** How the names of accounts begin that the configuration does not name. */
const LEARNED = 'learned-';
/** How those of programs begin that do not say what they sign in with. */
const AGENT = 'agent ';
const DIGEST_LENGTH = 16;
/** Of a digest within a name. */
const SHOWN_LENGTH = 8;
/** Names of the models that were called last: each call needs some. */
const MAX_IDS = 1000;
const ids = new Recent<string, string>({ maxEntries: MAX_IDS });

type NamedProvider = Settings['providers'][string] & { readonly name: string };

/** The provider of the configuration at an address, whoever calls it; null for none. */
export function providerAt(providers: Settings['providers'], baseUrl: string): NamedProvider | null {
  const found = Object.entries(providers).find(([, provider]) => isSameUrl(provider.baseUrl, baseUrl));
  return found === undefined ? null : { ...found[1], name: found[0] };
}

/** The account that a model's address and key belong to. */
export function accountOf(providers: Settings['providers'], { baseUrl, apiKey = '', isOperators }: CalledEndpoint): ProviderAccount {
  const endpoint = new URL(baseUrl).origin;
  const configured = isOperators ? providerAt(providers, baseUrl) : null;
  if (configured) return { name: configured.name, endpoint, limits: configured };
  return { name: `${LEARNED}${digestOf(`${endpoint}\n${apiKey}`)}`, endpoint, limits: {} };
}

/**
 * What people call an account: the provider's name in the configuration, else the host that it calls; of a program its name or that of its
 * agent, and not the digest of what it signs in with.
 */
export function accountLabel({ name, endpoint }: Pick<ProviderAccount, 'name' | 'endpoint'>): string {
  if (name.startsWith(LEARNED)) return new URL(endpoint).host;
  return name.includes(' ') && !isOfAgent(name) ? name.slice(0, name.indexOf(' ')) : name;
}

/** Whether the account is that of an agent whose program does not say what it signs in with. */
export function isOfAgent(name: string): boolean {
  return name.startsWith(AGENT);
}

interface AccountedProgram {
  readonly agent: string;
  readonly tenant: string;
  /** Whether the agent is of the configuration: then it is the same for all tenants. */
  readonly isOperators: boolean;
  /** The program that is known, and what it signs in with; agents that share these share the account. */
  readonly signIn?: { readonly program: string; readonly secrets: readonly string[] } | undefined;
}

/** The account of a program that calls a provider itself. A space in its name keeps it apart from those of the configuration. */
export function programAccount({ agent, tenant, isOperators, signIn }: AccountedProgram): ProviderAccount {
  const own = isOperators ? `${AGENT}${agent}` : `${AGENT}${agent} of ${tenant}`;
  const isShared = signIn !== undefined && signIn.secrets.length > 0;
  const name = isShared ? `${signIn.program} ${digestOf(signIn.secrets.join('\n')).slice(0, SHOWN_LENGTH)}` : own;
  return { name, endpoint: name, limits: {} };
}

/** The name of an account's model in keys and among what holds tasks. */
export function throttleId({ name }: Pick<ProviderAccount, 'name'>, model: string): string {
  const text = `${name}\n${model}`;
  const known = ids.get(text);
  if (known !== undefined) return known;
  const id = digestOf(text);
  ids.set(text, id);
  return id;
}

function isSameUrl(one: string, other: string): boolean {
  return withoutSlash(one) === withoutSlash(other);
}

function withoutSlash(url: string): string {
  return new URL(url).href.replace(/\/+$/, '');
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH);
}
