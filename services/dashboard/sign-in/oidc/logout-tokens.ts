import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';
import type { OidcSettings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Between two readings of the provider's keys for a token whose key is not known. */
const KEYS_COOLDOWN_MS = 1000;
/** A token is sent when it is made; an older one was kept by somebody. */
export const MAX_TOKEN_AGE_MS = 600_000;

/** With a nonce it would be an ID token, which others have too. */
const claimsSchema = z
  .object({
    iss: z.string(),
    jti: z.string().min(1).max(1000),
    sub: z.string().min(1).optional(),
    sid: z.string().min(1).optional(),
    nonce: z.undefined().optional(),
    events: z.looseObject({ [EVENT]: z.looseObject({}) }),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined, 'names neither a person nor a session');

/** Whose session, or which one, has ended at the provider. */
export type LogoutClaims = Omit<z.infer<typeof claimsSchema>, 'nonce' | 'events'>;

/** What of the provider's description counts. */
interface ServerMetadata {
  readonly issuer: string;
  readonly jwks_uri?: string;
  readonly id_token_signing_alg_values_supported?: string[];
}

/** LogoutTokens is responsible for reading the tokens by which a provider ends sign-ins, as OpenID Connect Back-Channel Logout 1.0 says. */
export class LogoutTokens {
  readonly #settings: OidcSettings;
  readonly #server: ServerMetadata;
  readonly #keys: JWTVerifyGetKey;

  constructor(settings: OidcSettings, server: ServerMetadata) {
    this.#settings = settings;
    this.#server = server;
    this.#keys = createRemoteJWKSet(new URL(server.jwks_uri ?? settings.issuer), {
      timeoutDuration: settings.timeoutMs,
      // A key that came since then is read at once; tries are limited by address.
      cooldownDuration: KEYS_COOLDOWN_MS,
    });
  }

  /** Errors: `request.invalid` for a token that does not count; what the connection to the provider throws. */
  async read(token: string): Promise<LogoutClaims> {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#keys, {
        issuer: this.#server.issuer,
        audience: this.#settings.clientId,
        algorithms: algorithmsOf(this.#server),
        clockTolerance: this.#settings.clockToleranceMs / 1000,
        maxTokenAge: MAX_TOKEN_AGE_MS / 1000,
      });
      if (!/^(?:application\/)?(?:logout\+)?jwt$/i.test(protectedHeader.typ ?? 'JWT')) throw invalid(`its type is ${protectedHeader.typ}`);
      const { iss, jti, sub, sid } = claimsSchema.parse(payload);
      return { iss, jti, sub, sid };
    } catch (error) {
      if (error instanceof z.ZodError)
        throw invalid(error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; '));
      if (error instanceof errors.JOSEError && !isOfConnection(error)) throw invalid(error.message);
      throw error;
    }
  }
}

/** Those of ID tokens that are signed by the provider's keys: a shared secret is the client's too. */
function algorithmsOf({ id_token_signing_alg_values_supported: all = [] }: ServerMetadata): string[] {
  const signed = all.filter((algorithm) => /^(?:RS|PS|ES)\d+$|^Ed/.test(algorithm));
  return signed.length > 0 ? signed : ['RS256'];
}

/** The keys could not be read: that says nothing of the token. */
function isOfConnection({ code }: errors.JOSEError): boolean {
  return code === errors.JWKSTimeout.code || code === errors.JWKSInvalid.code || code === errors.JOSEError.code;
}

function invalid(reason: string): MusterError {
  return new MusterError('request.invalid', `This is no logout token for this installation: ${reason}`);
}
