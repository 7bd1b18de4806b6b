import type { Request } from 'express';
import { MusterError } from '../errors/index.ts';
import {
  type AdmittedKey,
  type ApiKey,
  DEFAULT_TENANT,
  findKey,
  findVisitor,
  hasScope,
  KeyAdmissions,
  publicTenantId,
  type Scope,
} from '../tenants/index.ts';
import { knownRefusal } from '../redis/index.ts';
import { LATE, withinAttentive } from '../time/index.ts';
import { createRateLimit, MINUTE_S, networkOf, tooManyCalls } from './rate-limits.ts';
import { redisUnavailable } from './answers/problems.ts';
import type { HttpPorts, RequestContext } from './request-context.ts';
import type { Route } from './route.ts';
import { SharedCalls } from './shared-calls.ts';
import { assertSameOrigin, SignIns } from './sign-ins.ts';

/** What a route requires of a key. */
type Access = Pick<Route, 'scope' | 'forVisitors' | 'takesAccessTokens'>;

/** Knows the people who come with access tokens of the identity provider. */
export interface AccessTokenReader {
  /** Null for a token that opens nothing. */
  find(token: string): Promise<ApiKey | null>;
}

type CountCall = (name: string) => Promise<void>;

/**
 * The client queues a command behind a hanging one and times it from then on: both together may exceed the promised wait. This is the
 * first command that every call sends to Redis, so it is cut off here.
 */
const AUTHENTICATE_MS = 1500;

const BEARER = /^Bearer +(\S{1,512})$/i;
/** A signed token begins with its header, which is JSON; no key does. */
const ACCESS_TOKEN = /^Bearer +(eyJ[\w-]{1,2000}\.[\w-]{1,12000}\.[\w-]{1,2000})$/i;
/** Names the tenant that an operator of the installation acts for. */
const TENANT_HEADER = 'muster-tenant';

/** Authenticator is responsible for whose key, sign-in or visitor's token a request carries, and for what that opens. */
export class Authenticator {
  readonly #ports: HttpPorts;
  readonly #signIns: SignIns;
  readonly #keys: SharedCalls<ApiKey | null>;
  readonly #admissions: SharedCalls<AdmittedKey | null>;
  readonly #countKey: CountCall;
  readonly #countAddress: CountCall;
  readonly #accessTokens: AccessTokenReader | undefined;

  constructor(ports: HttpPorts, accessTokens?: AccessTokenReader) {
    const { limits } = ports.config.settings;
    const admissions = new KeyAdmissions(ports, { counterOf: (key) => `${this.#counters(kindOf(key))}:${key.id}`, windowS: MINUTE_S });
    this.#ports = ports;
    this.#accessTokens = accessTokens;
    this.#signIns = new SignIns(ports);
    this.#keys = new SharedCalls(async (secret) => (await findVisitor(ports, secret)) ?? (await findKey(ports, secret)));
    this.#admissions = new SharedCalls((secret, calls) => inTime(admissions.admit(secret, calls)));
    this.#countKey = this.#limit('key', limits.httpPerMinute);
    this.#countAddress = this.#limit('address', limits.httpAnonymousPerMinute);
  }

  /**
   * Returns the key of a request, and notes in the context whose it is as soon as that is known: from its header, else from the browser's sign-in. Null for a scope of `none`. Errors: `auth.missing`,
   * `auth.invalid`, `auth.forbidden`, `auth.csrf`, `tenant.disabled`, `tenant.not-found`, `limit.rate`, `unavailable.redis`.
   */
  async authenticate(request: Request, access: Access, context: Pick<RequestContext, 'caller'>): Promise<ApiKey | null> {
    const startedAt = performance.now();
    const { scope } = access;
    const key = scope === 'none' ? null : await this.#admit(request, access);
    if (!key || scope === 'none') {
      await inTime(this.#countAddress(networkOf(request.ip)), performance.now() - startedAt);
      if (scope === 'none') return null;
      throw refusal(request);
    }
    const own = inRole(key, request.get(TENANT_HEADER));
    context.caller = own;
    if (this.#isDisabled(own)) throw new MusterError('tenant.disabled', `Tenant ${publicTenantId(own.tenant)} is disabled`);
    if (own.session !== undefined) {
      assertVisits(own, access, request);
      return own;
    }
    assertScope(own, scope);
    return this.#actingKey(request, own);
  }

  /** Whether a request that was accepted with this key still carries it, and the key still opens anything. Counts towards no limit. */
  async isStillAdmitted(request: Request, key: ApiKey): Promise<boolean> {
    const found = await this.#find(request);
    // A key never changes; a new key under the same secret has another id. A person may lose the role.
    return found?.id === key.id && !this.#isDisabled(key) && keepsRole(found, key);
  }

  /** The key that a request carries, once the request is counted for it. Errors: `auth.csrf`, `limit.rate`. */
  async #admit(request: Request, { takesAccessTokens = false }: Access): Promise<ApiKey | null> {
    const token = takesAccessTokens ? this.#tokenOf(request) : undefined;
    if (token !== undefined) return await this.#admitPerson(token);
    if (request.get('authorization') !== undefined) return await this.#admitBearer(request);
    return await inTime(this.#admitSignIn(request));
  }

  async #admitSignIn(request: Request): Promise<ApiKey | null> {
    const key = await this.#signIns.find(request);
    if (!key) return null;
    assertSameOrigin(request);
    await this.#countKey(key.id);
    return key;
  }

  async #admitPerson(token: string): Promise<ApiKey | null> {
    const key = (await this.#accessTokens?.find(token)) ?? null;
    if (key) await inTime(this.#countKey(key.id));
    return key;
  }

  #tokenOf({ headers }: Request): string | undefined {
    return this.#accessTokens && ACCESS_TOKEN.exec(headers.authorization ?? '')?.[1];
  }

  async #admitBearer(request: Request): Promise<ApiKey | null> {
    const secret = secretOf(request);
    if (secret === undefined) return null;
    const { answer, place } = await this.#admissions.join(secret);
    // While Redis refuses, as at the first start, a key may be one that could not be made yet.
    if (answer === null && knownRefusal() !== null) throw redisUnavailable();
    if (answer === null) return null;
    // Of the calls that came together the first ones are within the limit.
    const perMinute = this.#perMinute(answer.key);
    const before = answer.counted - answer.calls;
    if (before + place >= perMinute) throw tooManyCalls(perMinute, answer.leftMs);
    return answer.key;
  }

  async #find(request: Request): Promise<ApiKey | null> {
    if (request.get('authorization') === undefined) return await this.#signIns.find(request);
    const token = this.#tokenOf(request);
    if (token !== undefined) return (await this.#accessTokens?.find(token)) ?? null;
    const secret = secretOf(request);
    return secret === undefined ? null : (await this.#keys.join(secret)).answer;
  }

  /** A tenant that was made a moment ago may not be known here yet; only one known to be disabled counts. */
  #isDisabled(key: ApiKey): boolean {
    return this.#ports.tenants.get(key.tenant)?.disabled === true;
  }

  /**
   * The key as it counts for a request: of its own tenant, or of the tenant that the header names. Only an admin of tenant `default` may
   * name another tenant. Errors: `auth.forbidden`, `tenant.not-found`.
   */
  #actingKey(request: Request, key: ApiKey): ApiKey {
    const { tenants } = this.#ports;
    const named = request.get(TENANT_HEADER);
    if (named === undefined || named === key.tenant || named === publicTenantId(key.tenant)) return key;
    if (key.tenant !== DEFAULT_TENANT || !hasScope(key.scopes, 'admin')) {
      throw new MusterError('auth.forbidden', `Only an admin of tenant ${DEFAULT_TENANT} may act for another tenant (${TENANT_HEADER})`);
    }
    const tenant = tenants.find(named) ?? tenants.get(named);
    if (!tenant) throw new MusterError('tenant.not-found', 'There is no such tenant', { details: { id: named.slice(0, 100) } });
    return { ...key, tenant: tenant.id };
  }

  #perMinute(key: ApiKey): number {
    const { httpPerMinute, httpVisitorPerMinute } = this.#ports.config.settings.limits;
    return kindOf(key) === 'visitor' ? httpVisitorPerMinute : httpPerMinute;
  }

  #limit(name: string, perMinute: number): CountCall {
    return createRateLimit({ redis: this.#ports.redis, prefix: this.#counters(name), perMinute });
  }

  /** Where calls are counted, by what they are counted for. */
  #counters(name: string): string {
    return `${this.#ports.keys.fleet.http}:${name}`;
  }
}

/** A person in the role for the tenant that is named, where there is one; a key as it is. */
function inRole(key: ApiKey, named: string | undefined): ApiKey {
  const role = key.person?.roles.find(({ tenant }) => tenant === named || publicTenantId(tenant) === named);
  return role === undefined ? key : { ...key, tenant: role.tenant, scopes: role.scopes };
}

/** Whether a person still has the role that the key acts in; without one in its tenant that is the administrator's of tenant `default`. */
function keepsRole({ person }: ApiKey, key: ApiKey): boolean {
  if (person === undefined) return true;
  const tenant = key.person?.roles.some((role) => role.tenant === key.tenant) === true ? key.tenant : DEFAULT_TENANT;
  return person.roles.some((role) => role.tenant === tenant);
}

function kindOf(key: ApiKey): 'key' | 'visitor' {
  return key.session === undefined ? 'key' : 'visitor';
}

/** The key that a request carries in its header. */
export function secretOf({ headers }: Pick<Request, 'headers'>): string | undefined {
  return BEARER.exec(headers.authorization ?? '')?.[1];
}

/** Settles like the call, within what is left of the time for authenticating. Errors: `unavailable.redis`. */
async function inTime<Answer>(call: Promise<Answer>, spentMs = 0): Promise<Answer> {
  const answer = await withinAttentive(call, Math.max(0, AUTHENTICATE_MS - spentMs));
  if (answer === LATE) throw redisUnavailable(undefined, AUTHENTICATE_MS);
  return answer;
}

function refusal(request: Request): MusterError {
  if (request.get('authorization') === undefined) return new MusterError('auth.missing', 'Send a key: Authorization: Bearer <key>');
  return new MusterError('auth.invalid', 'This key is not known, or the header is not "Bearer <key>"');
}

/** The answer does not show whether the session exists. */
function assertVisits({ session }: ApiKey, { forVisitors }: Access, request: Request): void {
  if (forVisitors === true && request.params['id'] === session) return;
  throw new MusterError('auth.forbidden', "This is a visitor's token: it is for talking in its own session and for nothing else");
}

/** Errors: `auth.forbidden`. */
export function assertScope(key: ApiKey, scope: Scope): void {
  if (hasScope(key.scopes, scope)) return;
  throw new MusterError('auth.forbidden', `This needs a key with the scope "${scope}"`, { details: { needed: scope, scopes: key.scopes } });
}
