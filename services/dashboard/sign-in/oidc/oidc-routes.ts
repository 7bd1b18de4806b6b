import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import type { OidcSettings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { HostCookie } from '#shared/http/index.ts';
import type { Keys, RedisClient } from '#shared/redis/index.ts';
import {
  DEFAULT_TENANT,
  emailOf,
  explainNoRole,
  nameOf,
  type PeopleBounds,
  type Person,
  personId,
  providerSession,
  rolesLeft,
  rolesOf,
  savePerson,
} from '#shared/tenants/index.ts';
import { nextPath, refuse, type SignInOptions } from '../sign-in.ts';
import { backChannelLogout } from './back-channel-logout.ts';
import { OidcProvider, type OidcFlow } from './oidc-provider.ts';

export interface OidcOptions extends Omit<SignInOptions, 'findKey'> {
  settings: OidcSettings;
  bounds: PeopleBounds;
  redis: RedisClient;
  keys: Keys;
  /** The public address, when the operator gave one. */
  publicUrl: string | undefined;
}

const flowSchema = z.object({ state: z.string(), nonce: z.string(), verifier: z.string(), next: z.string() });
/** Paths to return to are cut, because a cookie has at most four kilobytes. */
const MAX_NEXT = 1000;

/** OidcSignIn is responsible for the way of a browser to the provider and back. */
export class OidcSignIn {
  readonly #options: OidcOptions;
  readonly #provider: OidcProvider;
  readonly #cookie: HostCookie;

  constructor(options: OidcOptions) {
    const { settings, publicUrl, log } = options;
    this.#options = options;
    this.#provider = new OidcProvider(settings, log);
    this.#cookie = new HostCookie({ name: 'muster_oidc', pattern: /^[\w-]{1,3500}$/, publicUrl, lifetimeMs: settings.signInMs });
  }

  /** `GET /sign-in/oidc`: leads to the provider. While it is down the form for keys says so. */
  begin(): RequestHandler {
    return async (request, response) => {
      const next = nextPath(request.query['next']);
      try {
        const { url, flow } = await this.#provider.begin(next.length > MAX_NEXT ? '/' : next, this.#redirectUri(request));
        this.#cookie.write(response, Buffer.from(JSON.stringify(flow)).toString('base64url'));
        response.redirect(303, url.href);
      } catch (error) {
        refuse(response, error, { next, label: this.#options.settings.label });
      }
    };
  }

  /** `GET /sign-in/oidc/callback`: signs the browser in, when the answer is to what this browser began. */
  complete(): RequestHandler {
    return async (request, response) => {
      const { signIns, limiter, log, settings, audit } = this.#options;
      const flow = this.#flowOf(request);
      this.#cookie.clear(response);
      try {
        if (flow === null)
          throw new MusterError('auth.sign-in-failed', 'This sign-in was begun in another browser, or too long ago. Try again.');
        await limiter.consume(request.ip, flow.state);
        const answer = new URL(request.originalUrl, this.#redirectUri(request));
        const { idToken, ...found } = await this.#provider.complete(answer, flow);
        const { person, tenant } = await this.#admit(request, found);
        await limiter.consumePerson(person.id);
        await limiter.refundAddress(request.ip);
        await signIns.open(request, response, { person: person.id, tenant, idToken, session: sessionOf(found) });
        await audit.recordPerson(request, 'signInByProvider', person, tenant);
        log.info({ event: 'sign-in.opened', tenant, person: person.id, by: 'oidc' }, 'A person signed in');
        response.redirect(303, nextPath(flow.next));
      } catch (error) {
        refuse(response, error, { next: nextPath(flow?.next), label: settings.label });
      }
    };
  }

  /** `POST /sign-in/oidc/backchannel-logout`: the provider says that a person's session there has ended. */
  endByProvider(): RequestHandler {
    return backChannelLogout(this.#options, (token) => this.#provider.readLogoutToken(token));
  }

  /** Where a person who signed out ends the sign-in at the provider too; null when there is no such place. */
  async endSessionUrl(request: Request, idToken: string): Promise<string | null> {
    return await this.#provider.endSessionUrl(idToken, `${this.#baseOf(request)}/sign-in`);
  }

  /** Records the person with the roles that the claims give. Errors: `auth.no-role`, `auth.claim-missing`. */
  async #admit(request: Request, { issuer, subject, claims }: FoundPerson): Promise<{ person: Person; tenant: string }> {
    const { settings, bounds, tenants, log } = this.#options;
    // A tenant that was made a moment ago may not be known here yet.
    await tenants.refresh();
    const roles = rolesOf(claims, settings.roles, tenants);
    const name = nameOf(claims, subject);
    const id = personId({ issuer, subject });
    const left = await rolesLeft(this.#options, id, roles);
    const first = left.find(({ tenant }) => isOpen(tenants.get(tenant)));
    if (first === undefined) {
      const actor = { kind: 'person', id, name } as const;
      const { code, missing, text } = explainNoRole({ claims, rules: settings.roles, name, hasRoles: roles.length > 0 });
      const refusal = { tenant: roles[0]?.tenant ?? DEFAULT_TENANT, actor, code, fields: missing };
      await this.#options.audit.recordRefusal(request, 'signInByProvider', refusal);
      log.warn(
        { event: 'sign-in.no-role', person: id, roles: roles.length, code, missing },
        'A person without a role that counts may not sign in',
      );
      throw new MusterError(code, text);
    }
    const person = await savePerson(this.#options, { issuer, subject, name, email: emailOf(claims), roles, lastAt: Date.now() }, bounds);
    return { person, tenant: first.tenant };
  }

  #flowOf(request: Request): OidcFlow | null {
    const value = this.#cookie.read(request);
    if (value === null) return null;
    try {
      return flowSchema.parse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8')));
    } catch {
      return null;
    }
  }

  #redirectUri(request: Request): string {
    return `${this.#baseOf(request)}/sign-in/oidc/callback`;
  }

  /** The provider takes only addresses that are registered there, so a forged host leads nowhere. */
  #baseOf(request: Request): string {
    return (this.#options.publicUrl ?? `${request.protocol}://${request.host}`).replace(/\/$/, '');
  }
}

interface FoundPerson {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** The session at the provider that a sign-in belongs to. */
function sessionOf({ issuer, subject, claims: { sid } }: FoundPerson): string {
  return providerSession({ issuer, subject, sid: typeof sid === 'string' ? sid : undefined });
}

function isOpen(tenant: { disabled: boolean } | null): boolean {
  return tenant?.disabled === false;
}
