import { z } from 'zod';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { hmac, none } from './generic.ts';
import { slack } from './slack.ts';
import { standard } from './standard.ts';
import { stripe } from './stripe.ts';
import type { IncomingWebhook, WebhookOutcome, WebhookProvider } from './webhook-provider.ts';

/** Who may send webhooks, by the way they prove it. */
export const PROVIDER_NAMES = ['github', 'gitlab', 'stripe', 'slack', 'standard', 'hmac', 'none'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

export const PROVIDERS: Readonly<Record<ProviderName, WebhookProvider>> = { github, gitlab, stripe, slack, standard, hmac, none };

/** What a hook of any provider may say in `options`; whether they fit its own is said by `optionsProblem`. */
export const hookOptionsSchema = z.union([hmac.options.schema, github.options.schema, none.options.schema]);
export type HookOptions = z.infer<typeof hookOptionsSchema>;

/** Checks and reads a webhook of this provider. Throws what its `verify` throws. */
export async function verifyWebhook(provider: ProviderName, incoming: IncomingWebhook): Promise<WebhookOutcome> {
  return await PROVIDERS[provider].verify(incoming);
}

/** What is wrong with a hook's secret, in a sentence; null for nothing. */
export function secretProblem(provider: ProviderName, secret: string | null): string | null {
  const { hasSecret, secretProblem: problemOf } = PROVIDERS[provider];
  if (!hasSecret) return secret === null ? null : `provider ${provider} checks nothing: leave the secret out`;
  if (secret === null) return `provider ${provider} needs a secret`;
  return problemOf?.(secret) ?? null;
}

/** What is wrong with a hook's options, in a sentence; null for nothing. */
export function optionsProblem(provider: ProviderName, given: HookOptions | null): string | null {
  const { options } = PROVIDERS[provider];
  if (options === null) return given === null ? null : `provider ${provider} has no options`;
  const fits = given === null ? !options.isRequired : options.schema.safeParse(given).success;
  return fits ? null : options.problem;
}
