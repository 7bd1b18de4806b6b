import { z } from 'zod';
import type { ChatPlatformName } from '#shared/config/index.ts';

/** One kind of sender of a platform's messages. */
interface Sender {
  /** For people, as docs/chat.md has it. */
  readonly who: string;
  /** Whether its messages reach the agent. Those of all others start nothing and stop nothing. */
  readonly isHeard: boolean;
  /** The platform's own form of such a message. */
  readonly form: z.ZodType;
}

const heard = (who: string, form: z.ZodType): Sender => ({ who, isHeard: true, form });
const ignored = (who: string, form: z.ZodType): Sender => ({ who, isHeard: false, form });

const from = (id: number): z.ZodType => z.object({ from: z.object({ id: z.literal(id) }), sender_chat: z.object({ id: z.number() }) });

/** Telegram's stand-ins for senders that are chats: https://core.telegram.org/bots/api#message */
const TELEGRAM = { service: 777_000, anonymousAdmin: 1_087_968_824, channel: 136_817_688 } as const;

/** Messages of people: default and reply. https://docs.discord.com/developers/resources/message#message-object-message-types */
const DISCORD_TYPES = [0, 19] as const;

/** Of each platform the kinds of senders; the first form that fits a message says whose it is. */
export const SENDERS: Readonly<Record<ChatPlatformName, readonly Sender[]>> = {
  telegram: [
    ignored('the automatic copy of a linked channel’s post', z.object({ is_automatic_forward: z.literal(true) })),
    ignored('Telegram itself', z.object({ from: z.object({ id: z.literal(TELEGRAM.service) }) })),
    heard('an anonymous administrator of a group', from(TELEGRAM.anonymousAdmin)),
    heard('a person who writes as a channel', from(TELEGRAM.channel)),
    ignored('a bot, also one of a business account', z.object({ sender_business_bot: z.object({}) })),
    ignored('a bot, also one of a business account', z.object({ from: z.object({ is_bot: z.literal(true) }) })),
    heard('a person', z.object({ from: z.object({ id: z.number() }) })),
    heard('a channel, by its own posts', z.object({ sender_chat: z.object({ id: z.number() }) })),
  ],
  slack: [
    ignored('Slackbot', z.object({ user: z.literal('USLACKBOT') })),
    ignored('an app, a workflow or an incoming webhook', z.object({ bot_id: z.string() })),
    ignored('an app, a workflow or an incoming webhook', z.object({ subtype: z.literal('bot_message') })),
    // The adapter reads these as changes.
    heard('a person who changes or deletes a message', z.object({ subtype: z.enum(['message_changed', 'message_deleted']) })),
    heard(
      'a person, also of another workspace',
      z.object({ user: z.string().min(1), subtype: z.enum(['file_share', 'thread_broadcast', 'me_message']).optional() }),
    ),
    ignored('a notice of Slack, or an event without a user', z.object({})),
  ],
  discord: [
    ignored('a webhook, also of a followed channel', z.object({ webhook_id: z.string() })),
    ignored('a bot', z.object({ author: z.object({ bot: z.literal(true) }) })),
    ignored('Discord itself', z.object({ author: z.object({ system: z.literal(true) }) })),
    heard('a person', z.object({ type: z.literal(DISCORD_TYPES).optional() })),
    ignored('a notice of Discord, such as a new thread, a boost or a name', z.object({ type: z.number() })),
  ],
  whatsapp: [
    ignored('a group, or a status', z.object({ group_id: z.string() })),
    ignored('a group, or a status', z.object({ from: z.literal('status@broadcast') })),
    ignored('a notice of Meta, such as a changed number', z.object({ type: z.enum(['system', 'request_welcome', 'ephemeral']) })),
    ignored('a reaction', z.object({ type: z.literal('reaction') })),
    heard('a person', z.object({ from: z.string() })),
    // People may hide their number: https://developers.facebook.com/docs/whatsapp/business-scoped-user-ids
    heard('a person', z.object({ from_user_id: z.string() })),
  ],
};

/** Whether a message reaches the agent, by the first form that it has; one of no form does not. */
export function isHeard(platform: ChatPlatformName, raw: unknown): boolean {
  return SENDERS[platform].find(({ form }) => form.safeParse(raw).success)?.isHeard === true;
}
