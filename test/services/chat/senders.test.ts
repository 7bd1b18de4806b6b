import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { discordId, discordMessage } from '../../support/chat/fake-discord.ts';
import type { PlatformRequest } from '../../support/chat/fake-platform.ts';
import { slackEvent, slackTs } from '../../support/chat/fake-slack.ts';
import { telegramUpdate } from '../../support/chat/fake-telegram.ts';
import { whatsappMessages } from '../../support/chat/fake-whatsapp.ts';
import { SENDERS } from '../../../services/chat/platforms/senders.ts';
import { environmentOf, PLATFORM_NAMES, type PlatformName } from './running-chat.ts';
import { useChat, useFakePlatforms } from './use-chat.ts';

const fakes = await useFakePlatforms();
const chat = await useChat(environmentOf(fakes), { chat: { groups: 'all' } });

let count = 0;
const next = (): number => (count += 1);

const GROUP = { id: -1001, type: 'supergroup', title: 'Team' };
const CHANNEL = { id: -1002, type: 'channel', title: 'News' };
const ADA = { id: 4001, is_bot: false, first_name: 'Ada' };
const bot = (id: number): object => ({ id, is_bot: true, first_name: 'Bot', username: 'some_bot' });

const telegram = (fields: object, kind = 'message'): PlatformRequest => {
  const number = next();
  const message = { message_id: number, date: 1_777_000_000 + number, chat: GROUP, from: ADA, text: `said ${number}`, ...fields };
  return telegramUpdate({ update_id: number, [kind]: message });
};
const slack = (fields: object): PlatformRequest =>
  slackEvent({
    type: 'message',
    channel: 'C1',
    channel_type: 'channel',
    user: 'UADA',
    text: `said ${next()}`,
    ts: slackTs(next()),
    ...fields,
  });
const discord = (fields: object): PlatformRequest =>
  discordMessage({
    id: discordId(next()),
    channel_id: '4001',
    channel_type: 0,
    guild_id: '1',
    content: `said ${count}`,
    author: { id: '77', username: 'ada', bot: false },
    ...fields,
  });
const whatsapp = (fields: object): PlatformRequest =>
  whatsappMessages('16505551234', [
    { id: `wamid.${next()}`, timestamp: '1777000000', type: 'text', text: { body: `said ${count}` }, ...fields },
  ]);

type Case = [platform: PlatformName, who: string, request: () => PlatformRequest, user?: string];

/** A message of each kind of sender; with a user, whose task it is. */
const CASES: Case[] = [
  ['telegram', 'a person', () => telegram({}), '4001'],
  ['telegram', 'an anonymous administrator of a group', () => telegram({ from: bot(1_087_968_824), sender_chat: GROUP }), 'chat:-1001'],
  ['telegram', 'a person who writes as a channel', () => telegram({ from: bot(136_817_688), sender_chat: CHANNEL }), 'chat:-1002'],
  [
    'telegram',
    'a channel, by its own posts',
    () => telegram({ from: undefined, chat: CHANNEL, sender_chat: CHANNEL }, 'channel_post'),
    'chat:-1002',
  ],
  [
    'telegram',
    'the automatic copy of a linked channel’s post',
    () => telegram({ from: { ...ADA, id: 777_000 }, sender_chat: CHANNEL, is_automatic_forward: true }),
  ],
  ['telegram', 'Telegram itself', () => telegram({ from: { id: 777_000, is_bot: false, first_name: 'Telegram' } })],
  ['telegram', 'a bot, also one of a business account', () => telegram({ from: bot(9) })],
  ['telegram', 'a bot, also one of a business account', () => telegram({ sender_business_bot: bot(9) })],
  ['slack', 'a person, also of another workspace', () => slack({ user_team: 'T9' }), 'UADA'],
  ['slack', 'a person, also of another workspace', () => slack({ subtype: 'thread_broadcast', thread_ts: slackTs(1) }), 'UADA'],
  ['slack', 'a person who changes or deletes a message', () => slack({ subtype: 'message_deleted', hidden: true, deleted_ts: slackTs(1) })],
  ['slack', 'Slackbot', () => slack({ user: 'USLACKBOT' })],
  ['slack', 'an app, a workflow or an incoming webhook', () => slack({ bot_id: 'B9', app_id: 'A9' })],
  ['slack', 'an app, a workflow or an incoming webhook', () => slack({ subtype: 'bot_message', user: undefined, username: 'deploys' })],
  ['slack', 'a notice of Slack, or an event without a user', () => slack({ user: undefined })],
  ['slack', 'a notice of Slack, or an event without a user', () => slack({ subtype: 'channel_convert_to_private' })],
  ['discord', 'a person', () => discord({ type: 0 }), '77'],
  ['discord', 'a person', () => discord({ type: 19 }), '77'],
  ['discord', 'a webhook, also of a followed channel', () => discord({ webhook_id: '55', author: { id: '55', username: 'ci' } })],
  ['discord', 'a bot', () => discord({ author: { id: '9', username: 'other', bot: true } })],
  ['discord', 'Discord itself', () => discord({ author: { id: '643945264868098049', username: 'discord', system: true } })],
  ['discord', 'a notice of Discord, such as a new thread, a boost or a name', () => discord({ type: 18 })],
  ['whatsapp', 'a person', () => whatsapp({}), '16505551234'],
  ['whatsapp', 'a group, or a status', () => whatsapp({ group_id: 'g1' })],
  ['whatsapp', 'a group, or a status', () => whatsapp({ from: 'status@broadcast' })],
  ['whatsapp', 'a notice of Meta, such as a changed number', () => whatsapp({ type: 'system', system: { body: 'changed', wa_id: '1' } })],
  ['whatsapp', 'a reaction', () => whatsapp({ type: 'reaction', reaction: { message_id: 'wamid.1', emoji: '👍' } })],
];

it.each(CASES)('%s: %s', async (platform, _who, request, user) => {
  const before = (await chat.tasks()).length;
  expect((await chat.post(platform, request())).status).toBe(200);
  const made = (await chat.tasks()).slice(before);
  expect(made.map(({ body }) => body.user)).toEqual(user === undefined ? [] : [user]);
});

it('each kind has a case and a row of the documentation', async () => {
  const page = await readFile(new URL('../../../docs/chat.md', import.meta.url), 'utf8');
  for (const platform of PLATFORM_NAMES) {
    const kinds = [...new Set(SENDERS[platform].map(({ who }) => who))];
    const tried = new Set(CASES.filter(([name]) => name === platform).map(([, who]) => who));
    expect([platform, kinds.filter((who) => !tried.has(who))]).toEqual([platform, []]);
    for (const { who, isHeard } of SENDERS[platform]) expect(page).toContain(`| \`${platform}\` | ${who} | ${isHeard ? 'yes' : 'no'} |`);
  }
});
