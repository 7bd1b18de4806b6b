import { z } from 'zod';
import type { HandshakeName } from '../handshakes/handshakes.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { hmac, none } from './generic.ts';
import { slack } from './slack.ts';
import { standard } from './standard.ts';
import { stripe } from './stripe.ts';
import type { BinaryLike } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonBounds } from '#shared/http/index.ts';

/** The services that may send webhooks, each with its own proof. */
export const PROVIDER_NAMES = ['github', 'gitlab', 'stripe', 'slack', 'standard', 'hmac', 'none'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

export const PROVIDERS: Readonly<Record<ProviderName, WebhookProvider>> = { github, gitlab, stripe, slack, standard, hmac, none };

/** The `options` of a hook of any provider. */
export const hookOptionsSchema = z.union([hmac.options.schema, github.options.schema, none.options.schema]);
/** The same in a request, as it came: `optionsProblems` knows the provider, and so which of the forms was meant. */
export const givenOptionsSchema = z.union([z.looseObject({}), ...hookOptionsSchema.options]).meta({
  // Callers send one of the forms; the first only keeps what another provider's form would refuse, or fill in.
  override: ({ jsonSchema }) => void jsonSchema.anyOf?.shift(),
});
type GivenOptions = z.infer<typeof givenOptionsSchema>;

/** Checks and reads a webhook of this provider. Throws what its `verify` throws. */
export async function verifyWebhook(provider: ProviderName, incoming: IncomingWebhook): Promise<WebhookEvent> {
  return await PROVIDERS[provider].verify(incoming);
}

/** The problem of a hook's secret, in a sentence; null for none. */
export function secretProblem(provider: ProviderName, secret: string | null, options: unknown = null): string | null {
  const { hasSecret, getsSecret, secretProblem: problemOf } = PROVIDERS[provider];
  if (!hasSecret) return secret === null ? null : `provider ${provider} checks nothing: leave the secret out`;
  if (secret === null) return getsSecret?.(options) === true ? null : `provider ${provider} needs a secret`;
  return problemOf?.(secret, options) ?? null;
}

/** A problem of a hook's options: the path within them, which is empty for a problem of all, and a sentence. */
interface OptionsProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** What is wrong with a hook's options for its provider; none where they fit. */
export function optionsProblems(provider: ProviderName, given: GivenOptions | null): OptionsProblem[] {
  const { options } = PROVIDERS[provider];
  if (options === null) return given === null ? [] : [{ path: [], message: `provider ${provider} has no options` }];
  if (given === null) return options.isRequired ? [{ path: [], message: `provider ${provider} ${options.problem}` }] : [];
  const { issues = [] } = options.schema.safeParse(given).error ?? {};
  return issues.map(({ path, message }) => ({ path: path.map(String), message }));
}

/** A provider's request as it arrived, with what is needed to check it. */
export interface IncomingWebhook {
  readonly rawBody: Buffer;
  readonly headers: IncomingHttpHeaders;
  /** Those that are valid, the newest first: after a change the former one is, too, for a while. None of a provider without a secret. */
  readonly secrets: readonly string[];
  /** The hook's `options`; each provider parses them with its own schema. */
  readonly options: unknown;
  /** Of its JSON, or its form. */
  readonly bounds: JsonBounds;
  /** Wall time, milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Something happened at the provider. */
export interface WebhookEvent {
  readonly kind: 'event';
  /** As the provider names it: `pull_request`, `invoice.paid`. */
  readonly event: string;
  /** The finest name there is: `pull_request.opened`. Rules and priorities match it. */
  readonly eventType: string;
  /** The provider's id of this delivery; null when it gave none. */
  readonly delivery: string | null;
  /** What the proof covers, in pieces, the time included; of a proof without a signature the body. */
  readonly signed: readonly BinaryLike[];
  /** Whether the proof covers the delivery's id. A copy under another id verifies where it does not, and counts as the same event. */
  readonly isIdProved: boolean;
  /** Parsed JSON, the fields of a form, or a text. */
  readonly payload: unknown;
}

/** All that is known of one provider. Its line in the documentation is checked against the registry. */
export interface WebhookProvider {
  /** The headers that it reads, by their names in lower case, with a sentence for the documentation. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether its hooks have a secret. */
  readonly hasSecret: boolean;
  /** Whether a hook with these options may be made without one, which its sender hands over. */
  readonly getsSecret?: (options: unknown) => boolean;
  /** How it checks the address of each hook; absent for not at all, or as `options.handshake` of the hook says. */
  readonly handshake?: HandshakeName;
  /** The problem of a secret, in a sentence; null for none. Without it every secret is fine. */
  readonly secretProblem?: (secret: string, options: unknown) => string | null;
  /** The `options` that a hook may have; null for none. */
  readonly options: ProviderOptions | null;
  /**
   * Checks that the provider sent this, and reads it. Throws `auth.bad-signature` when the proof is missing, wrong or outside its window.
   * Throws `request.malformed` when the body or a header cannot be read, `request.too-large` or `request.invalid` over the bounds of JSON.
   */
  verify(incoming: IncomingWebhook): WebhookEvent | Promise<WebhookEvent>;
}

export interface ProviderOptions<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** Which options there are, after `provider <name>`, for those that do not fit. */
  readonly problem: string;
}
