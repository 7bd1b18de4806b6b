import { z } from 'zod';
import { CHAT_PLATFORMS } from '../chat-environment.ts';

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

/** How the chat service talks to the platforms. Which platforms there are, is in the environment: see `chat-environment.ts`. */
export const chatSettingsSchema = z.strictObject({
  /** Bytes of one request of a platform; they send text and the names of files, never files. */
  maxBodyBytes: z.number().int().min(1024).default(1_048_576),
  /** Time until a platform gets an error and sends its request again. Slack waits 3 s for an answer, the others longer. */
  acceptTimeoutMs: z.number().int().min(100).max(60_000).default(8000),
  /** How long one call to a platform may take; afterwards it is not known whether a post was made, and it is not made again. */
  callTimeoutMs: z.number().int().min(100).max(120_000).default(15_000),
  /** In groups and channels: `mentions` answers who names the bot, `all` answers everybody. A private chat is always answered. */
  groups: z.enum(['mentions', 'all']).default('mentions'),
  /** Who may write to the bot, and what each may do. */
  access: chatAccessSchema,
  /** Calls spent on the answer of a command, which is sent at once and kept nowhere. */
  commandTries: z.number().int().min(1).max(20).default(4),
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
