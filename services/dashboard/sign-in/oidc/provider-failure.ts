import { z } from 'zod';

/** Why a provider could not be read, in words for people; null when it does not answer at all. */
export function describeDiscovery(error: unknown, issuer: string): string | null {
  const found = issuerSchema.safeParse(chainOf(error).find((each) => issuerSchema.safeParse(each).success)).data;
  if (found !== undefined) return describeIssuers(issuer, found.cause.body.issuer);
  const answer = chainOf(error).find((each) => each instanceof Response);
  if (answer !== undefined && answer.status >= 400 && answer.status < 500) return `has no description below ${issuer} (${answer.status})`;
  return chainOf(error).some(isMalformed) ? `has no description below ${issuer} that can be read` : null;
}

/** The provider's own name is compared letter by letter, as its tokens have it. */
function describeIssuers(written: string, own: string): string {
  const differs = written.replace(/\/$/, '') === own.replace(/\/$/, '') ? 'only the last slash differs; ' : '';
  return `calls itself ${own}, and signIn.oidc.issuer is ${written}: ${differs}write it as the provider does`;
}

const issuerSchema = z.looseObject({
  cause: z.looseObject({ attribute: z.literal('issuer'), body: z.looseObject({ issuer: z.string() }) }),
});

/** Codes of oauth4webapi for an answer that is no description. */
const MALFORMED = new Set(['OAUTH_PARSE_ERROR', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_INVALID_RESPONSE']);

function isMalformed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && MALFORMED.has(error.code);
}

const MAX_CAUSES = 5;

/** An error and what caused it. */
function chainOf(error: unknown): unknown[] {
  const chain = [error];
  while (chain.length <= MAX_CAUSES) {
    const last = chain.at(-1);
    if (!(last instanceof Error) || last.cause === undefined) break;
    chain.push(last.cause);
  }
  return chain;
}
