import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { discordId, discordMessage } from '../../../support/chat/fake-discord.ts';
import { signSlack, slackCommand, slackEvent, slackTs } from '../../../support/chat/fake-slack.ts';
import { telegramUpdate } from '../../../support/chat/fake-telegram.ts';
import { whatsappMessages } from '../../../support/chat/fake-whatsapp.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { environmentOf, PLATFORM_NAMES, startChat } from '../running-chat.ts';
import { useFakePlatforms } from '../use-chat.ts';

const redis = await useRedis();
const fakes = await useFakePlatforms();
const chat = closeAfterTests(await startChat(redis.url, environmentOf(fakes), { chat: { maxBodyBytes: 20_000 } }));

const few = closeAfterTests(await startChat(redis.url, environmentOf(fakes), { http: { maxBodyValues: 5000 } }));

beforeEach(async () => {
  await chat.parts.relay.idle();
  await chat.parts.redis.flushall();
  for (const fake of Object.values(fakes)) fake.shown.length = 0;
});

const EXPECTED = {
  telegram: { session: 'telegram:4001', channel: '4001', user: '4001', thread: 'telegram:4001' },
  slack: { session: 'slack:D4001', channel: 'D4001', user: 'UADA', thread: 'slack:D4001:' },
  discord: { session: 'discord:@me:4001', channel: '4001', user: '77', thread: 'discord:@me:4001' },
  whatsapp: {
    session: 'whatsapp:106540352242922:16505551234',
    channel: '106540352242922',
    user: '16505551234',
    thread: 'whatsapp:106540352242922:16505551234',
  },
} as const;

it.each([
  ['\u202Eada\u200B\u2069', 'ada'],
  ['\u202E', '4001'],
])('a sender called %j is shown as %s', async (username, shown) => {
  const from = { id: 4001, is_bot: false, first_name: username, username };
  const message = { message_id: 1, date: 1_777_000_000, chat: { id: 4001, type: 'private' }, from, text: 'Hello' };
  await chat.post('telegram', telegramUpdate({ update_id: 1, message }));
  const tasks = await chat.tasks();
  expect(tasks[0]?.body.context).toMatchObject({ userName: shown });
});

describe.each(PLATFORM_NAMES)('a message from %s', (name) => {
  it('becomes a task of its session, with the way back', async () => {
    const response = await chat.post(name, fakes[name].personWrites({ text: 'Hello there', number: 1 }));
    expect(response.status).toBe(200);
    const tasks = await chat.tasks();
    const { session, channel, user, thread } = EXPECTED[name];
    expect(tasks).toHaveLength(1);
    expect(tasks[0]?.body).toMatchObject({ session, channel, user, source: 'chat', agent: 'echo', input: 'Hello there' });
    expect(tasks[0]?.body.reply).toEqual({ platform: name, thread });
    expect(tasks[0]?.body.context).toMatchObject({ platform: name, thread });
  });

  it('makes no second task when the platform sends it again', async () => {
    const request = fakes[name].personWrites({ text: 'Once', number: 2 });
    const response = [await chat.post(name, request), await chat.post(name, request), await chat.post(name, request)];
    expect(response.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await chat.tasks()).toHaveLength(1);
  });

  it('is ordered by the platform, whichever came first', async () => {
    await chat.parts.redis.flushall();
    for (const number of [3, 5, 4]) await chat.post(name, fakes[name].personWrites({ text: `message ${number}`, number }));
    const orders = (await chat.tasks()).map(({ body, state }) => [body.input, Number(state.order)] as const);
    const sorted = orders.toSorted(([, one], [, other]) => one - other).map(([input]) => input);
    expect(sorted).toEqual(['message 3', 'message 4', 'message 5']);
    expect(orders.every(([, order]) => Number.isSafeInteger(order))).toBe(true);
  });

  it('is refused with 401 when its signature does not match', async () => {
    const { body, headers } = fakes[name].personWrites({ text: 'Forged', number: 6 });
    const forged = Object.fromEntries(
      Object.entries(headers).map(([key, value]) => [
        key,
        /signature|token/.test(key) ? `${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}` : value,
      ]),
    );
    expect((await chat.post(name, { body, headers: forged })).status).toBe(401);
    expect((await chat.post(name, { body, headers: { 'content-type': 'application/json' } })).status).toBe(401);
    expect(await chat.tasks()).toEqual([]);
  });

  it('is refused with 413 when it has more members and elements than allowed, before anybody parses it', async () => {
    const body = `[${'0,'.repeat(9000)}0]`;
    expect((await few.post(name, { body, headers: { 'content-type': 'application/json' } })).status).toBe(413);
  });

  it('is refused with 413 when it is too large', async () => {
    const response = await chat.post(name, fakes[name].personWrites({ text: 'x'.repeat(30_000), number: 7 }));
    expect(response.status).toBe(413);
    expect(await chat.tasks()).toEqual([]);
  });

  it('that is a command runs and is answered once, in the chat', async () => {
    const request = fakes[name].personWrites({ text: '/stop', number: 8 });
    expect((await chat.post(name, request)).status).toBe(200);
    expect((await chat.post(name, request)).status).toBe(200);
    await waitFor(() => fakes[name].shown.length > 0, { deadlineMs: 5000, what: 'the answer' });
    expect(fakes[name].shown.map(({ text }) => text)).toEqual(['Nothing runs and nothing waits.']);
    expect(await chat.tasks()).toEqual([]);
  });
});

describe('an update that its platform signed and nobody can read', () => {
  it.each<[string, string, () => { body: string; headers: Record<string, string> }]>([
    ['telegram', 'a time that is none', () => update({ message: telegramMessage({ date: 'yesterday' }) })],
    ['telegram', 'nothing at all', () => telegramUpdate(null as never)],
    [
      'slack',
      'files that are no list',
      () => slackEvent({ type: 'message', channel: 'D4001', channel_type: 'im', user: 'UADA', text: 1, ts: slackTs(50), files: 7 }),
    ],
    ['discord', 'options that are no list', () => command(51, { name: 'ask', options: 'none' })],
    [
      'discord',
      'an id that is no number',
      () =>
        fakes.discord.interaction({
          id: 'none',
          type: 2,
          channel_id: '600',
          member: { user: { id: '77', username: 'ada' } },
          data: { type: 1, id: '1', name: 'ask', options: [{ name: 'text', type: 3, value: 'hi' }] },
        }),
    ],
    [
      'whatsapp',
      'a time that is none',
      () => whatsappMessages('1', [{ id: 'wamid.52', timestamp: 'now', type: 'text', text: { body: 'hi' } }]),
    ],
  ])('is acknowledged and dropped, because %s would send it again and again: %s', async (name, _what, make) => {
    expect((await chat.post(name, make())).status).toBe(200);
    expect(await chat.tasks()).toEqual([]);
  });

  it('takes nothing along that came with it', async () => {
    const unreadable = { id: 'wamid.60', timestamp: 'now', type: 'text', text: { body: 'unreadable' } };
    expect((await chat.post('whatsapp', whatsappMessages('16505551234', [whatsappPlain(61), unreadable, whatsappPlain(62)]))).status).toBe(
      200,
    );
    expect((await chat.tasks()).map(({ body }) => body.input).toSorted()).toEqual(['plain 61', 'plain 62']);
  });

  it.each(PLATFORM_NAMES)('is not one that is no JSON at all, and not one whose address is none: %s', async (name) => {
    const { headers } = fakes[name].personWrites({ text: 'hi', number: 70 });
    expect((await chat.post(name, { body: '{', headers })).status).toBeLessThan(500);
    const { port } = new URL(chat.base);
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(`POST http://nowhere:99999/chat/${name} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`);
    expect(await readText(socket)).toMatch(/^HTTP\/1\.1 401 [\s\S]*"code":"auth\.bad-signature"/);
  });
});

describe('the address', () => {
  it('is 404 for a platform that nobody knows', async () => {
    expect((await chat.post('carrier-pigeon', { body: '{}', headers: {} })).status).toBe(404);
  });

  it('answers the handshake of Slack', async () => {
    const response = await chat.post(
      'slack',
      signSlack(JSON.stringify({ type: 'url_verification', challenge: 'c-123' }), 'application/json'),
    );
    expect(response).toEqual({ status: 200, text: '{"challenge":"c-123"}' });
  });

  it('answers the verification of WhatsApp, for who knows the token', async () => {
    expect(await ask('whatsapp-verify-token')).toEqual([200, '115']);
    expect((await ask('guessed'))[0]).toBe(403);
  });

  it('answers the PING of Discord, when it is signed', async () => {
    const request = fakes.discord.interaction({ id: discordId(1), type: 1 });
    expect(await chat.post('discord', request)).toEqual({ status: 200, text: '{"type":1}' });
    const forged = { ...request.headers, 'x-signature-timestamp': '1' };
    expect((await chat.post('discord', { body: request.body, headers: forged })).status).toBe(401);
  });
});

describe('who is answered', () => {
  it('are not bots, nor what they changed afterwards', async () => {
    await chat.post('telegram', update({ message: telegramMessage({ from: { id: 9, is_bot: true, first_name: 'Other' } }) }));
    await chat.post('telegram', update({ edited_message: telegramMessage({ edit_date: 1_777_000_100 }) }));
    await chat.post(
      'slack',
      slackEvent({ type: 'message', channel: 'D1', channel_type: 'im', bot_id: 'BOTHER', text: 'hi', ts: slackTs(1) }),
    );
    await chat.post(
      'slack',
      slackEvent({ type: 'message', channel: 'D1', channel_type: 'im', user: 'UBOT', bot_id: 'BBOT', text: 'hi', ts: slackTs(2) }),
    );
    const bot = { id: '5', username: 'other', bot: true };
    await chat.post('discord', discordMessage({ id: discordId(1), channel_id: '4001', channel_type: 1, content: 'hi', author: bot }));
    expect(await chat.tasks()).toEqual([]);
  });

  it('in a group are those who name the bot, whose name is taken off', async () => {
    const group = { id: -100, type: 'group', title: 'Team' };
    const entities = [{ type: 'mention', offset: 0, length: 11 }];
    await chat.post('telegram', update({ message: telegramMessage({ chat: group, text: 'just talking' }) }));
    await chat.post('telegram', update({ message: telegramMessage({ chat: group, text: '@muster_bot do it', entities, message_id: 12 }) }));
    expect((await chat.tasks()).map(({ body }) => [body.session, body.input])).toEqual([['telegram:-100', 'do it']]);
  });

  it('are those who reply to the bot, in the conversation of their group, which has no topics', async () => {
    const group = { id: -1001, type: 'supergroup', title: 'Team' };
    const bot = { id: 7_000_000_001, is_bot: true, first_name: 'Muster', username: 'muster_bot' };
    const first = { message_id: 40, date: 1_777_000_000, chat: group, from: bot, text: 'What is it?' };
    const reply = { chat: group, text: 'that', message_id: 41, message_thread_id: 40, reply_to_message: first };
    await chat.post('telegram', update({ message: telegramMessage(reply) }));
    await chat.post('telegram', update({ message: telegramMessage({ ...reply, text: '/status', entities: [COMMAND], message_id: 42 }) }));
    expect((await chat.tasks()).map(({ body }) => [body.session, body.input])).toEqual([['telegram:-1001', 'that']]);
    await waitFor(() => fakes.telegram.shown.length > 0, { deadlineMs: 5000, what: 'the answer to /status' });
    expect(fakes.telegram.shown[0]?.chat).toBe('-1001');
  });

  it('in a topic are in its own conversation', async () => {
    fakes.telegram.topics.add(9);
    const forum = { id: -1002, type: 'supergroup', title: 'Forum', is_forum: true };
    const topic = { chat: forum, message_thread_id: 9, is_topic_message: true };
    await chat.post('telegram', update({ message: telegramMessage({ ...topic, text: '@muster_bot do it', message_id: 43 }) }));
    expect((await chat.tasks()).map(({ body }) => body.session)).toEqual(['telegram:-1002:9']);
    await chat.post('telegram', update({ message: telegramMessage({ ...topic, text: '/status', entities: [COMMAND], message_id: 44 }) }));
    await waitFor(() => fakes.telegram.shown.length > 0, { deadlineMs: 5000, what: 'the answer to /status' });
  });

  it('are not those who command another bot, where everybody is answered', async () => {
    const open = await startChat(redis.url, environmentOf(fakes), { chat: { groups: 'all' } });
    try {
      const group = { id: -100, type: 'group', title: 'Team' };
      const commanded = (message_id: number, text: string): Record<string, unknown> => {
        const length = text.split(' ')[0]?.length;
        return telegramMessage({ chat: group, text, message_id, entities: [{ type: 'bot_command', offset: 0, length }] });
      };
      await open.post('telegram', update({ message: telegramMessage({ chat: group, text: 'go on', message_id: 45 }) }));
      await open.post('telegram', update({ message: commanded(46, '/stop@other_bot') }));
      await open.post('telegram', update({ message: commanded(47, '/weather@other_bot in Paris') }));
      expect((await open.tasks()).map(({ body, state }) => [body.input, state.status])).toEqual([['go on', 'queued']]);
      await open.post('telegram', update({ message: commanded(48, '/stop@Muster_bot') }));
      expect((await open.tasks()).map(({ state }) => state.status)).toEqual(['cancelled']);
    } finally {
      await open.close();
    }
  });

  it('in a Slack channel are those who name the bot, and then everybody in that thread', async () => {
    const channel = { channel: 'C1', channel_type: 'channel', user: 'UADA' };
    await chat.post('slack', slackEvent({ ...channel, type: 'message', text: 'just talking', ts: slackTs(1) }));
    // Slack sends a mention twice, as a message and as itself.
    await chat.post('slack', slackEvent({ ...channel, type: 'message', text: '<@UBOT> begin', ts: slackTs(2) }));
    await chat.post('slack', slackEvent({ ...channel, type: 'app_mention', text: '<@UBOT> begin', ts: slackTs(2) }));
    await chat.post('slack', slackEvent({ ...channel, type: 'message', text: 'and go on', ts: slackTs(3), thread_ts: slackTs(2) }));
    const session = `slack:C1:${slackTs(2)}`;
    expect((await chat.tasks()).map(({ body }) => [body.session, body.input])).toEqual([
      [session, 'begin'],
      [session, 'and go on'],
    ]);
  });

  it('on a Discord server are those who name the bot, in a thread of their own', async () => {
    const author = { id: '77', username: 'ada', bot: false };
    const place = { guild_id: '500', channel_id: '600', channel_type: 0, author };
    await chat.post('discord', discordMessage({ ...place, id: discordId(1), content: 'just talking' }));
    const mentions = [{ id: fakes.discord.applicationId }];
    const content = `<@${fakes.discord.applicationId}> begin`;
    await chat.post('discord', discordMessage({ ...place, id: discordId(2), content, mentions }));
    expect((await chat.tasks()).map(({ body }) => [body.session, body.channel, body.input])).toEqual([
      [`discord:500:600:${discordId(2)}`, '600', 'begin'],
    ]);
  });
});

describe('what is accepted', () => {
  it('names attachments, which are not fetched', async () => {
    const document = { file_id: 'f1', file_unique_id: 'u1', file_name: 'report.pdf', mime_type: 'application/pdf' };
    await chat.post('telegram', update({ message: telegramMessage({ text: undefined, caption: 'Read this', document }) }));
    expect((await chat.tasks()).map(({ body }) => body.input)).toEqual(['Read this\n[attached file: report.pdf]']);
  });

  it.each([
    ['Look at <https://example.com/a|this page> and `x_y`', 'Look at [this page](https://example.com/a) and `x_y`'],
    ['2 * 3 * 4 in __init__.py', '2 * 3 * 4 in __init__.py'],
    ['- one\n- two\n\n\n&gt; said\n# three', '- one\n- two\n\n\n> said\n# three'],
    ['```a &lt; b &amp;&amp; c\n    d```', '```a < b && c\n    d```'],
    ['<https://example.com/?q=*a*> <mailto:a@b.c|a@b.c>', 'https://example.com/?q=*a* a@b.c'],
    ['for <@UADA> and <!here>, <!subteam^S1|@team> in <#C1|general>', 'for @ada and @here, @team in #general'],
    ['&amp;lt; is no &lt;b&gt;', '&lt; is no <b>'],
  ])('is what was written in Slack: %j', async (text, input) => {
    await chat.post('slack', slackEvent({ type: 'message', channel: 'D1', channel_type: 'im', user: 'UADA', text, ts: slackTs(1) }));
    expect((await chat.tasks()).map(({ body }) => body.input)).toEqual([input]);
  });

  it('has what was shared in Slack with it', async () => {
    const attachments = [{ is_share: true, text: 'What they said', fallback: 'What they said' }];
    const event = { type: 'message', channel: 'D1', channel_type: 'im', user: 'UADA', text: 'Answer this', ts: slackTs(1), attachments };
    await chat.post('slack', slackEvent(event));
    expect((await chat.tasks()).map(({ body }) => body.input)).toEqual(['Answer this\n\nWhat they said']);
  });

  it('is every message of one request, in order', async () => {
    const messages = ['one', 'two', 'three'].map((body, index) => ({
      id: `wamid.${index}`,
      timestamp: '1777000000',
      type: 'text',
      text: { body },
    }));
    await chat.post('whatsapp', whatsappMessages('1650', messages));
    expect((await chat.tasks()).map(({ body }) => body.input).toSorted()).toEqual(['one', 'three', 'two']);
  });

  it('goes to the tenant that chat belongs to', async () => {
    const other = await startChat(redis.url, { ...environmentOf(fakes), MUSTER_CHAT_TENANT: 'acme' });
    try {
      await other.post('telegram', fakes.telegram.personWrites({ text: 'Hello', number: 1 }));
      expect(await chat.tasks()).toEqual([]);
    } finally {
      await other.close();
    }
  });
});

describe('a slash command', () => {
  it('of Discord is answered in the answer to its request', async () => {
    const response = await chat.post('discord', command(1, { name: 'status' }));
    expect(JSON.parse(response.text)).toMatchObject({ type: 4, data: { allowed_mentions: { parse: [] } } });
    expect(response.text).toContain('Nothing runs');
  });

  it('of Discord that carries a text becomes a task, and shows the question', async () => {
    const response = await chat.post('discord', command(2, { name: 'ask', options: [{ name: 'text', type: 3, value: 'What now?' }] }));
    expect(JSON.parse(response.text)).toMatchObject({ type: 4, data: { content: '> What now?' } });
    expect((await chat.tasks()).map(({ body }) => [body.session, body.input])).toEqual([['discord:500:600', 'What now?']]);
  });

  it('of Discord that is none of ours goes to the agent as it was written', async () => {
    await chat.post('discord', command(3, { name: 'draw', options: [{ name: 'what', type: 3, value: 'a boat' }] }));
    expect((await chat.tasks()).map(({ body }) => body.input)).toEqual(['/draw a boat']);
  });

  it('of Slack is answered for who sent it, and means the private chat', async () => {
    const response = await chat.post('slack', slackCommand({ command: '/muster', text: 'stop' }));
    expect(JSON.parse(response.text)).toEqual({ response_type: 'ephemeral', text: 'Nothing runs and nothing waits.' });
    const asked = await chat.post('slack', slackCommand({ command: '/muster', text: 'stop it, please', trigger_id: '1.2.4' }));
    expect(asked.status).toBe(200);
    expect(fakes.slack.shown).toEqual([]);
  });

  it('of Telegram that is none of ours goes to the agent, and nothing is said to it', async () => {
    await chat.post('telegram', fakes.telegram.personWrites({ text: '/draw a boat', number: 2 }));
    await chat.post('telegram', fakes.telegram.personWrites({ text: '/status', number: 3 }));
    await waitFor(() => fakes.telegram.shown.length > 0, { deadlineMs: 5000, what: 'the answer to /status' });
    expect((await chat.tasks()).map(({ body }) => body.input)).toEqual(['/draw a boat']);
    expect(fakes.telegram.shown.map(({ text }) => text)).toEqual([expect.stringContaining('/draw a boat')]);
  });

  it('of Telegram that opens the bot gets help', async () => {
    await chat.post('telegram', fakes.telegram.personWrites({ text: '/start', number: 1 }));
    await waitFor(() => fakes.telegram.shown.length > 0, { deadlineMs: 5000, what: 'help' });
    expect(fakes.telegram.shown[0]?.text).toContain('/stop withdraws what waits');
  });
});

const setReplicas = (count: string): Promise<unknown> => chat.parts.redis.call('CONFIG', 'SET', 'min-replicas-to-write', count);

describe('when a message cannot be accepted', () => {
  it.each([
    ['is away', () => redis.kill(), () => redis.restart()],
    ['refuses to write', () => setReplicas('1'), () => setReplicas('0')],
  ])('now, since Redis %s, the platform sends it again', async (_what, begin, end) => {
    await begin();
    const answers = await Promise.all(
      PLATFORM_NAMES.map(async (name) => (await chat.post(name, fakes[name].personWrites({ text: 'In the dark', number: 20 }))).status),
    );
    expect(answers).toEqual([503, 503, 503, 503]);
    await end();
    for (const name of PLATFORM_NAMES) {
      const again = fakes[name].personWrites({ text: 'In the dark', number: 20 });
      await waitFor(async () => (await chat.post(name, again)).status === 200, { deadlineMs: 5000, what: `${name} to be accepted` });
    }
    expect(new Set((await chat.tasks()).map(({ body }) => body.reply?.platform))).toEqual(new Set(PLATFORM_NAMES));
    expect(await chat.tasks()).toHaveLength(PLATFORM_NAMES.length);
  });

  it('because too much waits, the platform’s next try is accepted when there is room', async () => {
    const full = await startChat(redis.url, environmentOf(fakes), { limits: { tenants: { default: { running: 1, waiting: 0 } } } });
    try {
      for (const name of PLATFORM_NAMES) {
        await full.parts.redis.flushall();
        await full.post(name, fakes[name].personWrites({ text: 'I was first', number: 40, chat: name === 'slack' ? 'D1' : '1' }));
        const second = fakes[name].personWrites({ text: 'I come again', number: 41, chat: name === 'slack' ? 'D2' : '2' });
        expect([name, (await full.post(name, second)).status]).toEqual([name, 429]);
        await full.post(name, fakes[name].personWrites({ text: '/stop', number: 42, chat: name === 'slack' ? 'D1' : '1' }));
        // Slack counts its tries.
        const again = { ...second, headers: { ...second.headers, 'x-slack-retry-num': '1' } };
        expect([name, (await full.post(name, again)).status]).toEqual([name, 200]);
        expect((await full.tasks()).map(({ body }) => body.input)).toEqual(['I was first', 'I come again']);
      }
    } finally {
      await full.close();
    }
  });

  it('ever, the person gets the reason, and the platform a 200', async () => {
    const lost = await startChat(redis.url, environmentOf(fakes), { routing: { agent: 'nobody' } });
    try {
      const response = await lost.post('telegram', fakes.telegram.personWrites({ text: 'Anybody?', number: 30 }));
      expect(response.status).toBe(200);
      await waitFor(() => fakes.telegram.shown.length > 0, { deadlineMs: 5000, what: 'the reason' });
      expect(fakes.telegram.shown[0]?.text).toMatch(/^This was not accepted: .*nobody/);
    } finally {
      await lost.close();
    }
  });
});

async function ask(token: string): Promise<[number, string]> {
  const response = await fetch(`${chat.base}/chat/whatsapp?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=115`);
  return [response.status, await response.text()];
}

function whatsappPlain(number: number): Record<string, unknown> {
  return { id: `wamid.${number}`, timestamp: '1777000000', type: 'text', text: { body: `plain ${number}` } };
}

const COMMAND = { type: 'bot_command', offset: 0, length: 7 };
let updates = 0;

function update(fields: Record<string, unknown>): { body: string; headers: Record<string, string> } {
  updates += 1;
  return telegramUpdate({ update_id: updates, ...fields });
}

function telegramMessage(fields: Record<string, unknown>): Record<string, unknown> {
  return {
    message_id: 11,
    date: 1_777_000_000,
    chat: { id: 4001, type: 'private', first_name: 'Ada' },
    from: { id: 4001, is_bot: false, first_name: 'Ada' },
    text: 'hi',
    ...fields,
  };
}

function command(number: number, data: Record<string, unknown>): { body: string; headers: Record<string, string> } {
  const user = { id: '77', username: 'ada', discriminator: '0', global_name: 'Ada' };
  return fakes.discord.interaction({
    id: discordId(number),
    type: 2,
    guild_id: '500',
    channel_id: '600',
    member: { user },
    data: { type: 1, id: '1', ...data },
  });
}
