import { z } from 'zod';
import type { OidcSettings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { ProviderTokens } from '#shared/tenants/index.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
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

/** LogoutTokens is responsible for reading the tokens by which a provider ends sign-ins, as OpenID Connect Back-Channel Logout 1.0 says. */
export class LogoutTokens {
  readonly #clientId: string;
  readonly #tokens: ProviderTokens;

  constructor(settings: OidcSettings, server: ConstructorParameters<typeof ProviderTokens>[1]) {
    this.#clientId = settings.clientId;
    this.#tokens = new ProviderTokens(settings, server);
  }

  /** Errors: `request.invalid` for a token that does not count; what the connection to the provider throws. */
  async read(token: string): Promise<LogoutClaims> {
    const verified = await this.#tokens.verify(token, { audience: this.#clientId, maxTokenAge: MAX_TOKEN_AGE_MS / 1000 });
    if ('refused' in verified) throw invalid(verified.refused);
    const { payload, protectedHeader } = verified;
    if (!/^(?:application\/)?(?:logout\+)?jwt$/i.test(protectedHeader.typ ?? 'JWT')) throw invalid(`its type is ${protectedHeader.typ}`);
    const { data, error } = claimsSchema.safeParse(payload);
    if (error) throw invalid(error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; '));
    const { iss, jti, sub, sid } = data;
    return { iss, jti, sub, sid };
  }
}

function invalid(reason: string): MusterError {
  return new MusterError('request.invalid', `This is no logout token for this installation: ${reason}`);
}
