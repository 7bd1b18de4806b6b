import * as client from 'openid-client';
import type { OidcSettings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import type { Log } from '#shared/log/index.ts';
import { missingClaims } from '#shared/tenants/index.ts';
import { type LogoutClaims, LogoutTokens } from './logout-tokens.ts';
import { describeDiscovery } from './provider-failure.ts';

/** What a browser keeps while its person is at the provider, so that nobody else's answer signs it in. */
export interface OidcFlow {
  state: string;
  nonce: string;
  verifier: string;
  /** The path of this site to redirect to afterwards. */
  next: string;
}

/** What the provider says of a person. */
export interface PersonClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly idToken: string | null;
}

/** OidcProvider is responsible for signing people in at an OpenID Connect provider: by an authorization code with PKCE, state and nonce. */
export class OidcProvider {
  readonly #settings: OidcSettings;
  readonly #log: Log;
  #discovered: Promise<client.Configuration> | null = null;
  #logoutTokens: LogoutTokens | undefined;

  constructor(settings: OidcSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** The provider's page for one sign-in, and what the browser keeps meanwhile. Errors: `unavailable.provider`. */
  async begin(next: string, redirectUri: string): Promise<{ url: URL; flow: OidcFlow }> {
    const provider = await this.#discover();
    const flow = { state: client.randomState(), nonce: client.randomNonce(), verifier: client.randomPKCECodeVerifier(), next };
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes.join(' '),
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    });
    return { url, flow };
  }

  /** Exchanges the code of the provider's answer for what it says of the person. Errors: `auth.sign-in-failed`, `unavailable.provider`. */
  async complete(answer: URL, { state, nonce, verifier }: OidcFlow): Promise<PersonClaims> {
    const discovered = await this.#discover();
    try {
      // The keys that it reads would be kept for minutes: a key that came since then would be refused.
      const provider = configure(discovered.serverMetadata(), this.#settings);
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
      const tokens = await client.authorizationCodeGrant(provider, answer, checks);
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('The provider sent no ID token');
      const info = await this.#readUserInfo(provider, { accessToken: tokens.access_token, claims });
      return { issuer: claims.iss, subject: claims.sub, claims: { ...info, ...claims }, idToken: tokens.id_token ?? null };
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** What the user info says, where it is configured, or where the ID token leaves out a claim that roles are given by. */
  async #readUserInfo(
    provider: client.Configuration,
    { accessToken, claims }: { accessToken: string; claims: client.IDToken },
  ): Promise<Readonly<Record<string, unknown>>> {
    const { userInfo, roles } = this.#settings;
    const isOffered = provider.serverMetadata().userinfo_endpoint !== undefined;
    if (!userInfo && (!isOffered || missingClaims(claims, roles).length === 0)) return {};
    const reading = client.fetchUserInfo(provider, accessToken, claims.sub);
    if (userInfo) return await reading;
    return await reading.catch((error: unknown) => {
      this.#log.warn({ event: 'sign-in.no-user-info', err: error }, 'The identity provider did not say more than its ID token');
      return {};
    });
  }

  /** Where a browser ends its sign-in at the provider too; null when the provider does not offer that, or is down. */
  async endSessionUrl(idToken: string, returnTo: string): Promise<string | null> {
    const provider = await this.#discover().catch(() => null);
    if (provider?.serverMetadata().end_session_endpoint === undefined) return null;
    return client.buildEndSessionUrl(provider, { id_token_hint: idToken, post_logout_redirect_uri: returnTo }).href;
  }

  /** What a token of the provider says of a session that has ended there. Errors: `request.invalid`, `unavailable.provider`. */
  async readLogoutToken(token: string): Promise<LogoutClaims> {
    const server = (await this.#discover()).serverMetadata();
    this.#logoutTokens ??= new LogoutTokens(this.#settings, server);
    try {
      return await this.#logoutTokens.read(token);
    } catch (error) {
      if (error instanceof MusterError) throw error;
      throw this.#unavailable(error);
    }
  }

  /** Reads the provider's description once. After a failure the next call tries again. */
  #discover(): Promise<client.Configuration> {
    this.#discovered ??= discover(this.#settings).catch((error: unknown) => {
      this.#discovered = null;
      throw this.#unavailable(error);
    });
    return this.#discovered;
  }

  #failure(error: unknown): MusterError {
    if (isUnavailable(error)) return this.#unavailable(error);
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.warn({ event: 'sign-in.failed', reason }, 'A sign-in at the identity provider failed');
    return new MusterError('auth.sign-in-failed', `The sign-in at ${this.#settings.label} failed. Try again, or sign in with a key.`, {
      cause: error,
    });
  }

  #unavailable(error: unknown): MusterError {
    const { issuer, label } = this.#settings;
    const reason = describeDiscovery(error, issuer);
    const msg = reason === null ? 'The identity provider does not answer' : 'The identity provider is set up wrongly';
    this.#log.warn({ event: 'sign-in.provider', issuer, reason, err: error }, msg);
    const text = reason === null ? 'does not answer. Try again later, or sign in with a key.' : `${reason}. Until then sign in with a key.`;
    return new MusterError('unavailable.provider', `${label} ${text}`, { cause: error });
  }
}

async function discover(settings: OidcSettings): Promise<client.Configuration> {
  const { issuer, clientId, clientSecret, timeoutMs } = settings;
  return await client.discovery(new URL(issuer), clientId, metadataOf(settings), authentication(clientSecret), {
    timeout: Math.ceil(timeoutMs / 1000),
    execute: isInsecure(settings) ? [client.allowInsecureRequests] : [],
  });
}

/** A client of a known provider that has read none of its keys. */
function configure(server: client.ServerMetadata, settings: OidcSettings): client.Configuration {
  const { clientId, clientSecret, timeoutMs } = settings;
  const provider = new client.Configuration({ ...server }, clientId, metadataOf(settings), authentication(clientSecret));
  provider.timeout = Math.ceil(timeoutMs / 1000);
  if (isInsecure(settings)) client.allowInsecureRequests(provider);
  // The signature of ID tokens is verified too, not only the connection that brought them.
  client.enableNonRepudiationChecks(provider);
  return provider;
}

function metadataOf({ clockToleranceMs }: OidcSettings): Partial<client.ClientMetadata> {
  return { [client.clockTolerance]: Math.ceil(clockToleranceMs / 1000) };
}

/** The settings allow http for this machine only. */
function isInsecure({ issuer }: OidcSettings): boolean {
  return issuer.startsWith('http:');
}

/** Sends the secret in the form that the provider takes. */
function authentication(secret: string | undefined): client.ClientAuth {
  if (secret === undefined) return client.None();
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...request) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const takesBasic = methods === undefined || methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
    (takesBasic ? basic : post)(server, ...request);
  };
}

/** A connection that fails, a call that takes too long, or a server error: not an answer about the person. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError' || error instanceof TypeError) return true;
  const status = 'status' in error ? Number(error.status) : 0;
  if (status >= 500) return true;
  return error.cause instanceof Response ? error.cause.status >= 500 : isUnavailable(error.cause);
}
