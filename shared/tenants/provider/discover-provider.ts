import { z } from 'zod';
import type { OidcSettings } from '../../config/index.ts';
import type { ServerMetadata } from './provider-tokens.ts';

const descriptionSchema = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  id_token_signing_alg_values_supported: z.array(z.string()).optional(),
});

/** Reads where a provider's keys are. Rejects when it does not answer, or calls itself otherwise than the settings do. */
export async function discoverProvider({ issuer, timeoutMs }: OidcSettings): Promise<ServerMetadata> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const description = descriptionSchema.parse(await answer.json());
  if (description.issuer !== issuer)
    throw new Error(`The provider calls itself ${description.issuer}, and signIn.oidc.issuer is ${issuer}`);
  return description;
}
