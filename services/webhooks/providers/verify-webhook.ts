import type { IncomingWebhook, VerifyWebhook, WebhookOutcome } from './incoming-webhook.ts';
import { verifyGithub } from './verify-github.ts';
import { verifyHmac } from './verify-hmac.ts';
import { verifyNone } from './verify-none.ts';
import { verifySlack } from './verify-slack.ts';
import { verifyStandard } from './verify-standard.ts';
import { verifyStripe } from './verify-stripe.ts';

/** Who may send webhooks, by the way they prove it. */
export const PROVIDERS = ['github', 'stripe', 'slack', 'standard', 'hmac', 'none'] as const;
export type Provider = (typeof PROVIDERS)[number];

const VERIFIERS: Readonly<Record<Provider, VerifyWebhook>> = {
  github: verifyGithub,
  stripe: verifyStripe,
  slack: verifySlack,
  standard: verifyStandard,
  hmac: verifyHmac,
  none: verifyNone,
};

/** Checks and reads a webhook of this provider. Throws `auth.bad-signature` or `request.malformed`. */
export async function verifyWebhook(provider: Provider, incoming: IncomingWebhook): Promise<WebhookOutcome> {
  return await VERIFIERS[provider](incoming);
}
