import { type ChatPlatformName, chatPlatforms, type Environment } from '#shared/config/index.ts';
import type { Log } from '#shared/log/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { type PlatformDriver, sdkLog } from './platform-driver.ts';

/** A platform before its adapter is loaded. */
interface PlatformEntry {
  /** Headers that prove that a request is the platform's, for the description of the API. */
  readonly proofs: Readonly<Record<string, string>>;
  /** Loads the adapter. */
  open(env: Environment, log: Log): Promise<PlatformDriver>;
}

/**
 * Every platform. A new one also needs its secrets in `shared/config`; the compiler and the test of this registry name the tables and
 * documents that lack it.
 */
export const PLATFORMS: Readonly<Record<ChatPlatformName, PlatformEntry>> = {
  telegram: {
    proofs: { 'x-telegram-bot-api-secret-token': 'the secret that the webhook was set with' },
    open: async (env, log) => {
      const { openTelegram } = await import('./telegram.ts');
      const secrets = { botToken: given(env.TELEGRAM_BOT_TOKEN), secretToken: given(env.TELEGRAM_WEBHOOK_SECRET) };
      return openTelegram({ ...secrets, apiUrl: env.TELEGRAM_API_URL }, sdkLog(log));
    },
  },
  slack: {
    proofs: {
      'x-slack-signature': '`v0=` and the HMAC of `v0:<timestamp>:<body>` in hex',
      'x-slack-request-timestamp': 'seconds since 1970, within 5 minutes of now',
    },
    open: async (env, log) => {
      const { openSlack } = await import('./slack.ts');
      const secrets = { botToken: given(env.SLACK_BOT_TOKEN), signingSecret: given(env.SLACK_SIGNING_SECRET) };
      return openSlack({ ...secrets, apiUrl: env.SLACK_API_URL }, sdkLog(log));
    },
  },
  discord: {
    proofs: { 'x-signature-ed25519': 'the signature of timestamp and body', 'x-signature-timestamp': 'seconds since 1970' },
    open: async (env, log) => {
      const { openDiscord } = await import('./discord.ts');
      const secrets = {
        botToken: given(env.DISCORD_BOT_TOKEN),
        publicKey: given(env.DISCORD_PUBLIC_KEY),
        applicationId: given(env.DISCORD_APPLICATION_ID),
      };
      const { DISCORD_API_URL: apiUrl, DISCORD_GATEWAY: hasGateway = apiUrl === undefined } = env;
      return openDiscord({ ...secrets, apiUrl, hasGateway }, sdkLog(log));
    },
  },
  whatsapp: {
    proofs: { 'x-hub-signature-256': '`sha256=` and the HMAC of the body in hex' },
    open: async (env, log) => {
      const { openWhatsapp } = await import('./whatsapp.ts');
      const secrets = {
        accessToken: given(env.WHATSAPP_ACCESS_TOKEN),
        appSecret: given(env.WHATSAPP_APP_SECRET),
        phoneNumberId: given(env.WHATSAPP_PHONE_NUMBER_ID),
        verifyToken: given(env.WHATSAPP_VERIFY_TOKEN),
      };
      return openWhatsapp({ ...secrets, apiUrl: env.WHATSAPP_API_URL }, sdkLog(log), systemClock);
    },
  },
};

/**
 * The drivers of all platforms whose secrets are there. Each adapter is loaded by itself: Discord's alone costs half a second, and most
 * installations have one platform.
 */
export async function openDrivers(env: Environment, log: Log): Promise<PlatformDriver[]> {
  return await Promise.all(chatPlatforms(env).map((name) => PLATFORMS[name].open(env, log.child({ platform: name }))));
}

/** A platform is opened only when all of its secrets are there. */
function given(value: string | undefined): string {
  if (value === undefined) throw new Error('A chat platform was opened without all of its secrets');
  return value;
}
