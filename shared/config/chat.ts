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

interface PlatformFacts {
  /** Its name for people. */
  readonly title: string;
  /** All of these switch the platform on; a secret one gives access to something. */
  readonly variables: Readonly<Partial<Record<keyof ChatEnvironment, 'secret' | 'public'>>>;
}

/** What the configuration knows of each platform; `services/chat/platforms/registry.ts` has the rest. */
export const PLATFORM_FACTS: Readonly<Record<ChatPlatformName, PlatformFacts>> = {
  telegram: { title: 'Telegram', variables: { TELEGRAM_BOT_TOKEN: 'secret', TELEGRAM_WEBHOOK_SECRET: 'secret' } },
  slack: { title: 'Slack', variables: { SLACK_BOT_TOKEN: 'secret', SLACK_SIGNING_SECRET: 'secret' } },
  discord: {
    title: 'Discord',
    variables: { DISCORD_BOT_TOKEN: 'secret', DISCORD_PUBLIC_KEY: 'public', DISCORD_APPLICATION_ID: 'public' },
  },
  whatsapp: {
    title: 'WhatsApp',
    variables: {
      WHATSAPP_ACCESS_TOKEN: 'secret',
      WHATSAPP_APP_SECRET: 'secret',
      WHATSAPP_PHONE_NUMBER_ID: 'public',
      WHATSAPP_VERIFY_TOKEN: 'secret',
    },
  },
};

/** The variables of all platforms that give access to something. */
export const CHAT_SECRETS: readonly string[] = CHAT_PLATFORMS.flatMap((platform) => {
  return Object.entries(PLATFORM_FACTS[platform].variables).flatMap(([name, kind]) => (kind === 'secret' ? [name] : []));
});

/** The platforms whose secrets are all there. */
export function chatPlatforms(env: ChatEnvironment): ChatPlatformName[] {
  return CHAT_PLATFORMS.filter((platform) => missingOf(env, platform).length === 0);
}

/**
 * A line per platform that has some of its variables and not all: it would be off without anybody having asked for that.
 * Takes the variables as they were given, so that these lines stand beside the problems of single variables.
 */
export function chatProblems(variables: Readonly<Record<string, unknown>>): string[] {
  return CHAT_PLATFORMS.flatMap((platform) => {
    const { title, variables: needed } = PLATFORM_FACTS[platform];
    const names = Object.keys(needed);
    const missing = missingOf(variables, platform);
    if (missing.length === 0 || missing.length === names.length) return [];
    return [`environment: ${title} is half configured: set ${missing.join(' and ')} too, or none of ${names.join(', ')}`];
  });
}

function missingOf(variables: Readonly<Record<string, unknown>>, platform: ChatPlatformName): string[] {
  return Object.keys(PLATFORM_FACTS[platform].variables).filter((name) => variables[name] === undefined);
}

/**
 * - `talk`: write to agents, ask what runs, and begin a fresh transcript
 * - `schedule`: `/schedule`, and have agents write it in answers
 * - `steer`: `/stop`, `/queue`, and messages that reach or stop what runs; other messages wait, and become one turn
 */
export const CHAT_RIGHTS = ['talk', 'schedule', 'steer'] as const;
export type ChatRight = (typeof CHAT_RIGHTS)[number];

const names = z.array(z.string().min(1).max(200)).min(1).max(10_000).optional();

const ruleSchema = z.strictObject({
  /** People by the platform's own ids; without them the rule is for all. */
  users: names,
  /** Chats by the platform's own ids, as `channel` in `routing.agents`; without them the rule is for all. */
  channels: names,
  may: z.array(z.enum(CHAT_RIGHTS)).default([...CHAT_RIGHTS]),
});

/**
 * Who may do what, by platform. A platform that is not named is open to all who find the bot. With rules a person has what any rule
 * that fits gives, and nothing without one.
 */
const chatAccessSchema = z.partialRecord(z.enum(CHAT_PLATFORMS), z.array(ruleSchema).max(1000)).default({});
export type ChatAccess = z.infer<typeof chatAccessSchema>;

/** How the chat service talks to the platforms. The variables above switch platforms on. */
export const chatSettingsSchema = z.strictObject({
  /** Bytes of one request of a platform; they send text and the names of files, never files. */
  maxBodyBytes: z.number().int().min(1024).default(1_048_576),
  /** Time until a platform gets an error and sends its request again. Slack waits 3 s for an answer, the others longer. */
  acceptTimeoutMs: z.number().int().min(100).max(60_000).default(8000),
  /** How long one call to a platform may take; afterwards it is not known whether a post was made, and it is not made again. */
  callTimeoutMs: z.number().int().min(100).max(120_000).default(15_000),
  /** How long a person's file may take to come from the platform, within `acceptTimeoutMs`; without it the message counts all the same. */
  fileTimeoutMs: z.number().int().min(100).max(60_000).default(2500),
  /** How long one file of a reply may take to reach the platform; afterwards it is not sent again. */
  sendFileTimeoutMs: z.number().int().min(100).max(600_000).default(60_000),
  /** In groups and channels: `mentions` answers who names the bot, `all` answers everybody. A private chat is always answered. */
  groups: z.enum(['mentions', 'all']).default('mentions'),
  /** Who may write to the bot, and what each may do. */
  access: chatAccessSchema,
  /** Mode `interrupt`: how long a message waits for further ones, which become one turn with it; 0 for not at all. */
  interruptDebounceMs: z.number().int().min(0).max(60_000).default(500),
  /** Mode `interrupt`: a message that its sender wrote so long before it came, as after an outage, interrupts nothing and waits. */
  lateAfterMs: z.number().int().min(1000).max(86_400_000).default(30_000),
  /** Calls spent on the answer of a command, which is sent at once and kept nowhere. */
  commandTries: z.number().int().min(1).max(20).default(4),
  /** Estimated wait from which on a person is notified that the agents are busy; null for never. */
  busyMs: z.number().int().min(1000).nullable().default(60_000),
  /** Between two such notes in one session. */
  busyEveryMs: z.number().int().min(1000).default(300_000),
  /** How long the next part of an album is waited for. An album is one message, and platforms send its parts one by one. */
  albumWaitMs: z.number().int().min(10).max(30_000).default(1500),
  /** Parts of one album at most; with so many nothing more is waited for. Telegram's albums have up to 10. */
  albumMaxParts: z.number().int().min(2).max(100).default(30),
  /** On platforms that do not name albums: how long after an album another part without words still counts as one of it. */
  albumLateMs: z.number().int().min(0).max(600_000).default(15_000),
  /** How long is remembered what platforms say of people and threads, after it was last said. */
  stateRetentionMs: z
    .number()
    .int()
    .min(60_000)
    .default(90 * 86_400_000),
});

export type ChatSettings = z.infer<typeof chatSettingsSchema>;
