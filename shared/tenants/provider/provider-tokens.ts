import type * as Jose from 'jose';
import type { OidcSettings } from '../../config/index.ts';

/** Between two readings of the provider's keys for a token whose key is not known. */
const KEYS_COOLDOWN_MS = 1000;

/** What of the provider's description counts. */
export interface ServerMetadata {
  readonly issuer: string;
  readonly jwks_uri?: string | undefined;
  readonly id_token_signing_alg_values_supported?: string[] | undefined;
}

/** Whose token it has to be, and how old it may be. */
type TokenChecks = Pick<Jose.JWTVerifyOptions, 'audience' | 'maxTokenAge'>;

/** ProviderTokens is responsible for whether a token was signed by the provider, for somebody, and counts now. */
export class ProviderTokens {
  readonly #settings: OidcSettings;
  readonly #server: ServerMetadata;
  #keys: Jose.JWTVerifyGetKey | undefined;

  constructor(settings: OidcSettings, server: ServerMetadata) {
    this.#settings = settings;
    this.#server = server;
  }

  /** What a token says, or why it does not count. Rejects with what the connection to the provider throws. */
  async verify(token: string, checks: TokenChecks): Promise<Jose.JWTVerifyResult | { refused: string }> {
    // Loaded for the first token: most processes never see one.
    const jose = await import('jose');
    try {
      return await jose.jwtVerify(token, (this.#keys ??= this.#openKeys(jose)), {
        ...checks,
        issuer: this.#server.issuer,
        algorithms: algorithmsOf(this.#server),
        clockTolerance: this.#settings.clockToleranceMs / 1000,
      });
    } catch (error) {
      if (error instanceof jose.errors.JOSEError && !isOfConnection(error, jose)) return { refused: error.message };
      throw error;
    }
  }

  #openKeys({ createRemoteJWKSet }: typeof Jose): Jose.JWTVerifyGetKey {
    return createRemoteJWKSet(new URL(this.#server.jwks_uri ?? this.#settings.issuer), {
      timeoutDuration: this.#settings.timeoutMs,
      // A key that came since then is read at once; tries are limited by address.
      cooldownDuration: KEYS_COOLDOWN_MS,
    });
  }
}

/** Those of ID tokens that are signed by the provider's keys: a shared secret is the client's too. */
function algorithmsOf({ id_token_signing_alg_values_supported: all = [] }: ServerMetadata): string[] {
  const signed = all.filter((algorithm) => /^(?:RS|PS|ES)\d+$|^Ed/.test(algorithm));
  return signed.length > 0 ? signed : ['RS256'];
}

/** The keys could not be read: that says nothing of the token. */
function isOfConnection({ code }: Jose.errors.JOSEError, { errors: known }: typeof Jose): boolean {
  return code === known.JWKSTimeout.code || code === known.JWKSInvalid.code || code === known.JOSEError.code;
}
