import { z } from 'zod';

const secret = z.string().min(1).max(1000).optional();
const apiUrl = z.url({ protocol: /^https?$/ }).optional();

/** The secrets that switch chat platforms on, for the schema of the environment. */
export const chatEnvironment = {
  /** The tenant that chat messages belong to. */
  MUSTER_CHAT_TENANT: z.string().min(1).max(64).default('default'),
  /** From @BotFather. */
  TELEGRAM_BOT_TOKEN: secret,
  /** The `secret_token` that the webhook was set with. */
  TELEGRAM_WEBHOOK_SECRET: secret,
  /** A Bot API server of your own; by default Telegram's. The same for the other three. */
  TELEGRAM_API_URL: apiUrl,
  SLACK_BOT_TOKEN: secret,
  SLACK_SIGNING_SECRET: secret,
  SLACK_API_URL: apiUrl,
  DISCORD_BOT_TOKEN: secret,
  DISCORD_PUBLIC_KEY: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, 'expected 64 hexadecimal digits')
    .optional(),
  DISCORD_APPLICATION_ID: secret,
  DISCORD_API_URL: apiUrl,
  /**
   * Whether a chat process listens to Discord's Gateway, by which messages come; slash commands come without it. It is at Discord's
   * own address always, so by default it is on where `DISCORD_API_URL` is not set.
   */
  DISCORD_GATEWAY: z
    .enum(['true', 'false', '1', '0'])
    .transform((value) => value === 'true' || value === '1')
    .optional(),
  WHATSAPP_ACCESS_TOKEN: secret,
  WHATSAPP_APP_SECRET: secret,
  WHATSAPP_PHONE_NUMBER_ID: secret,
  WHATSAPP_VERIFY_TOKEN: secret,
  WHATSAPP_API_URL: apiUrl,
};

type ChatEnvironment = z.infer<z.ZodObject<typeof chatEnvironment>>;

export const CHAT_PLATFORMS = ['telegram', 'slack', 'discord', 'whatsapp'] as const;
export type ChatPlatformName = (typeof CHAT_PLATFORMS)[number];

/** What each platform needs, all of it. */
const NEEDED = {
  telegram: ['TELEGRAM_BOT_TOKEN', 'TELEGRAM_WEBHOOK_SECRET'],
  slack: ['SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET'],
  discord: ['DISCORD_BOT_TOKEN', 'DISCORD_PUBLIC_KEY', 'DISCORD_APPLICATION_ID'],
  whatsapp: ['WHATSAPP_ACCESS_TOKEN', 'WHATSAPP_APP_SECRET', 'WHATSAPP_PHONE_NUMBER_ID', 'WHATSAPP_VERIFY_TOKEN'],
} as const satisfies Record<ChatPlatformName, readonly (keyof ChatEnvironment)[]>;

const TITLE: Readonly<Record<ChatPlatformName, string>> = {
  telegram: 'Telegram',
  slack: 'Slack',
  discord: 'Discord',
  whatsapp: 'WhatsApp',
};

/** The platforms whose secrets are all there. */
export function chatPlatforms(env: ChatEnvironment): ChatPlatformName[] {
  return CHAT_PLATFORMS.filter((platform) => missingOf(env, platform).length === 0);
}

/**
 * A line per platform that has some of its secrets and not all: it would be off without anybody having said so.
 * Takes the variables as they were given, so that it is reported together with what is wrong with any of them.
 */
export function chatProblems(variables: Readonly<Record<string, unknown>>): string[] {
  return CHAT_PLATFORMS.flatMap((platform) => {
    const missing = missingOf(variables, platform);
    if (missing.length === 0 || missing.length === NEEDED[platform].length) return [];
    return [
      `environment: ${TITLE[platform]} is half configured: set ${missing.join(' and ')} too, or none of ${NEEDED[platform].join(', ')}`,
    ];
  });
}

function missingOf(variables: Readonly<Record<string, unknown>>, platform: ChatPlatformName): string[] {
  return NEEDED[platform].filter((name) => variables[name] === undefined);
}
