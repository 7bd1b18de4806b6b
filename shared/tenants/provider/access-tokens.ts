import { z } from 'zod';
import type { OidcSettings } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { Log } from '../../log/index.ts';
import type { Keys, RedisClient } from '../../redis/index.ts';
import { Recent } from '../../time/index.ts';
import type { ApiKey } from '../key-store.ts';
import { type PeopleBounds, personId, readPersonById, type Role, savePerson } from '../person-store.ts';
import type { TenantDirectory } from '../tenant-directory.ts';
import { discoverProvider } from './discover-provider.ts';
import { explainNoRole } from './no-role.ts';
import { emailOf, nameOf, rolesLeft, rolesOf } from './person-roles.ts';
import { ProviderTokens } from './provider-tokens.ts';

export interface AccessTokensOptions {
  readonly settings: OidcSettings;
  readonly bounds: PeopleBounds;
  /** What tokens have to be for: the address of what takes them. */
  readonly audience: string;
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly tenants: Pick<TenantDirectory, 'find'>;
  readonly log: Log;
}

interface Holder {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** An access token of OAuth; an ID token is for the client, and names another audience. */
const claimsSchema = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1),
  nonce: z.undefined().optional(),
  events: z.undefined().optional(),
});

const MAX_KNOWN = 1000;
const KNOWN_MS = 3_600_000;

/** AccessTokens is responsible for what somebody may do who comes with an access token of the identity provider instead of a key. */
export class AccessTokens {
  readonly #options: AccessTokensOptions;
  /** People who are listed, by id: what is written once need not be read for each call. */
  readonly #listed = new Recent<string, true>({ maxEntries: MAX_KNOWN, keepMs: KNOWN_MS });
  #tokens: Promise<ProviderTokens> | null = null;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  /**
   * The person whom a token names, in the first of the roles that its claims give; null for a token that does not count. Errors: `auth.no-role`,
   * `auth.claim-missing`, `unavailable.provider`.
   */
  async find(token: string): Promise<ApiKey | null> {
    const holder = await this.#read(token);
    if (holder === null) return null;
    const { settings, tenants } = this.#options;
    const id = personId(holder);
    const name = nameOf(holder.claims, holder.subject);
    const given = rolesOf(holder.claims, settings.roles, tenants);
    const roles = await rolesLeft(this.#options, id, given);
    const [role] = roles;
    if (role === undefined) {
      const { code, text } = explainNoRole({ claims: holder.claims, rules: settings.roles, name, hasRoles: given.length > 0 });
      throw new MusterError(code, text);
    }
    await this.#list(id, holder, given);
    return { id, name, createdAt: 0, tenant: role.tenant, scopes: role.scopes, person: { email: emailOf(holder.claims), roles } };
  }

  async #read(token: string): Promise<Holder | null> {
    const { audience, log } = this.#options;
    const verified = await this.#verify(token, audience);
    const claims = 'refused' in verified ? null : (claimsSchema.safeParse(verified.payload).data ?? null);
    if (claims !== null) return { issuer: claims.iss, subject: claims.sub, claims };
    const reason = 'refused' in verified ? verified.refused : 'it is another kind of token';
    log.debug({ event: 'auth.token-refused', reason }, 'An access token was refused');
    return null;
  }

  async #verify(token: string, audience: string): ReturnType<ProviderTokens['verify']> {
    try {
      this.#tokens ??= this.#open();
      return await (await this.#tokens).verify(token, { audience });
    } catch (error) {
      this.#tokens = null;
      const { label, issuer } = this.#options.settings;
      this.#options.log.warn({ event: 'auth.provider', issuer, err: error }, 'The identity provider does not answer');
      throw new MusterError('unavailable.provider', `${label} does not answer. Try again later, or send a key.`, { cause: error });
    }
  }

  async #open(): Promise<ProviderTokens> {
    const { settings } = this.#options;
    return new ProviderTokens(settings, await discoverProvider(settings));
  }

  /** Lists a person who never signed in here, so that an administrator can disable them. What a sign-in brought is left as it is. */
  async #list(id: string, { issuer, subject, claims }: Holder, roles: Role[]): Promise<void> {
    if (this.#listed.get(id)) return;
    if ((await readPersonById(this.#options, id)) === null) {
      const person = { issuer, subject, name: nameOf(claims, subject), email: emailOf(claims), roles, lastAt: Date.now() };
      await savePerson(this.#options, person, this.#options.bounds);
    }
    this.#listed.set(id, true);
  }
}
