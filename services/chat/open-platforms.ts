import type { Logger } from 'chat';
import { type ChatPlatformName, chatPlatforms, type Environment } from '#shared/config/index.ts';
import { systemClock } from '#shared/time/index.ts';
import { ChatPlatform, type ChatPlatformParts } from './chat-platform.ts';
import type { PlatformDriver } from './platforms/platform-driver.ts';
import { sdkLog } from './platforms/sdk-log.ts';

/**
 * Opens every platform whose secrets are there. Each adapter is loaded by itself: Discord's alone costs half a second, and
 * most installations have one platform.
 */
export async function openPlatforms(env: Environment, parts: ChatPlatformParts): Promise<ChatPlatform[]> {
  return await Promise.all(
    chatPlatforms(env).map(async (name) => {
      const kit = await OPEN[name](env, sdkLog(parts.log.child({ platform: name })));
      return new ChatPlatform(kit, parts);
    }),
  );
}

const OPEN: Readonly<Record<ChatPlatformName, (env: Environment, logger: Logger) => Promise<PlatformDriver>>> = {
  telegram: async (env, logger) => {
    const { openTelegram } = await import('./platforms/telegram.ts');
    const secrets = { botToken: given(env.TELEGRAM_BOT_TOKEN), secretToken: given(env.TELEGRAM_WEBHOOK_SECRET) };
    return openTelegram({ ...secrets, apiUrl: env.TELEGRAM_API_URL }, logger);
  },
  slack: async (env, logger) => {
    const { openSlack } = await import('./platforms/slack.ts');
    const secrets = { botToken: given(env.SLACK_BOT_TOKEN), signingSecret: given(env.SLACK_SIGNING_SECRET) };
    return openSlack({ ...secrets, apiUrl: env.SLACK_API_URL }, logger);
  },
  discord: async (env, logger) => {
    const { openDiscord } = await import('./platforms/discord.ts');
    const secrets = {
      botToken: given(env.DISCORD_BOT_TOKEN),
      publicKey: given(env.DISCORD_PUBLIC_KEY),
      applicationId: given(env.DISCORD_APPLICATION_ID),
    };
    const { DISCORD_API_URL: apiUrl, DISCORD_GATEWAY: hasGateway = apiUrl === undefined } = env;
    return openDiscord({ ...secrets, apiUrl, hasGateway }, logger);
  },
  whatsapp: async (env, logger) => {
    const { openWhatsapp } = await import('./platforms/whatsapp.ts');
    const secrets = {
      accessToken: given(env.WHATSAPP_ACCESS_TOKEN),
      appSecret: given(env.WHATSAPP_APP_SECRET),
      phoneNumberId: given(env.WHATSAPP_PHONE_NUMBER_ID),
      verifyToken: given(env.WHATSAPP_VERIFY_TOKEN),
    };
    return openWhatsapp({ ...secrets, apiUrl: env.WHATSAPP_API_URL }, logger, systemClock);
  },
};

/** A platform is opened only when all of its secrets are there. */
function given(value: string | undefined): string {
  if (value === undefined) throw new Error('A chat platform was opened without all of its secrets');
  return value;
}
