import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ChatPort, type ChatQuestion, DeliveryRefused } from '#shared/deliveries/replies/chat-port.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import { ChatPlatform } from '../../../../services/chat/chat-platform.ts';
import { openDrivers } from '../../../../services/chat/platforms/registry.ts';
import { CommandSender } from '../../../../services/chat/replies/command-sender.ts';
import { closeAfterTests } from '../../../support/close-after-tests.ts';
import { startFakeHttpEndpoint } from '../../../support/fake-http-endpoint.ts';
import { freePort } from '../../../support/free-port.ts';
import { openTestParts } from '../../../support/open-test-parts.ts';
import { useRedis } from '../../../support/redis/use-redis.ts';
import { environmentOf, PLATFORM_NAMES, type PlatformName } from '../running-chat.ts';
import { useFakePlatforms } from '../use-chat.ts';

const redis = await useRedis();
const fakes = await useFakePlatforms();
const settings = { chat: { callTimeoutMs: 2000 } };
const parts = closeAfterTests(await openTestParts({ redisUrl: redis.url, env: environmentOf(fakes), settings }));
const ports = await openPorts(parts);
beforeEach(() => {
  for (const fake of Object.values(fakes)) fake.shown.length = 0;
  fakes.telegram.isOld = false;
  fakes.telegram.dislikes = '\0';
  fakes.telegram.moved.clear();
});

async function openPorts(all: Parts): Promise<Record<PlatformName, ChatPort>> {
  const { config, redis: client, keys, log } = all;
  const drivers = await openDrivers(config.env, log);
  const { chat, tasks, questions } = config.settings;
  const platforms = drivers.map((driver) => {
    return new ChatPlatform(driver, {
      redis: client,
      keyPrefix: keys.fleet.chat,
      keys,
      albumKeys: () => keys.tenant('default'),
      settings: chat,
      idempotencyMs: tasks.idempotencyMs,
      questionMs: questions.maxWaitMs,
      log,
      accept: { ...all, settings: chat, chatTenant: () => 'default' },
      sender: new CommandSender({ log, tries: 1 }),
    });
  });
  return Object.fromEntries(platforms.map(({ name, port }) => [name, port])) as Record<PlatformName, ChatPort>;
}

const refusalOf = async (work: Promise<unknown>): Promise<Partial<DeliveryRefused>> =>
  await work.then(
    () => ({}),
    (error: unknown) => (error instanceof DeliveryRefused ? error : Promise.reject(error as Error)),
  );

const CHOICE = 'Take the train of the night, which leaves at nine and has beds, from platform number';
const questionOf = (text: string, count: number): ChatQuestion => ({
  id: '01KQS1C8ZV0G3P5T7W9X1Y2Z3A.123456789.5f1d7a20',
  text,
  choices: Array.from({ length: count }, (_, at) => `${CHOICE} ${at + 1}`),
});

const canEdit = (name: PlatformName): boolean => ports[name].canEdit;

describe.each(PLATFORM_NAMES)('a question by the port of %s', (name) => {
  const thread = fakes[name].threadOf();
  const all = (): string => fakes[name].shown.map(({ text }) => text).join('\n');

  it.each([2, 3, 4, 10, 11, 25])('shows all that is asked and each of %i choices, whatever one message takes', async (count) => {
    const words = Array.from({ length: 399 }, (_, at) => `plan-${String(at).padStart(4, '0')}`);
    const question = questionOf(words.join(' '), count);
    const { id } = await ports[name].ask(thread, question);
    for (const word of [...words, ...question.choices]) expect(all()).toContain(word);
    const last = fakes[name].shown.at(-1);
    expect(id).toContain(last?.id);
    // A list of WhatsApp has ten rows.
    const buttons = name === 'whatsapp' && count > 10 ? 0 : count;
    expect([last?.buttons.length, new Set(last?.buttons).size]).toEqual([buttons, buttons]);
  });

  it.runIf(canEdit(name)).each([2, 25])('shows how it ended in place of its %i buttons', async (count) => {
    const question = questionOf('Which train?', count);
    const { id } = await ports[name].ask(thread, question);
    await ports[name].close(thread, id, { question, end: 'Answered by Anna: yes' });
    expect(fakes[name].shown.at(-1)).toMatchObject({ text: expect.stringMatching(/Answered by Anna: yes$/), buttons: [] });
  });

  it('in words is a message like any other', async () => {
    const question = questionOf('Which version?', 0);
    const { id } = await ports[name].ask(thread, question);
    expect(id).not.toBe('');
    expect(fakes[name].shown).toMatchObject([{ text: 'Which version?', buttons: [] }]);
  });
});

describe.each(PLATFORM_NAMES)('the port of %s', (name) => {
  it('posts, and edits where the platform can', async () => {
    const thread = fakes[name].threadOf();
    const { id } = await ports[name].post(thread, 'A first word');
    expect(fakes[name].shown.map(({ text }) => text)).toEqual(['A first word']);
    expect(fakes[name].threadOf(fakes[name].shown[0]?.chat)).toBe(thread);
    if (!canEdit(name)) return;
    await ports[name].edit(thread, id, 'A first word, and another');
    expect(fakes[name].shown.map(({ text, edits }) => [text, edits])).toEqual([['A first word, and another', 1]]);
  });

  it('shows the longest text completely, whatever is in it', async () => {
    const { maxCharacters } = ports[name];
    const nasty = '@all #1 *a_b*! (c) [d] ~e~ `f` > g. ';
    const text = nasty
      .repeat(Math.ceil(maxCharacters / nasty.length))
      .slice(0, maxCharacters - 1)
      .padEnd(maxCharacters, 'Z');
    await ports[name].post(fakes[name].threadOf(), text);
    expect(fakes[name].shown).toHaveLength(1);
    expect(fakes[name].shown[0]?.text).toMatch(/Z$/);
    expect(lettersOf(fakes[name].shown[0]?.text)).toBe(lettersOf(text));
  });

  it('keeps the lines of a plain text', async () => {
    const lines = ['2 wait:', '1. "one *a* <b>" (task X)', '2. "two @all" (task Y)', 'Mode: queue.'];
    await ports[name].post(fakes[name].threadOf(), lines.join('\n'), { isPlain: true });
    const text = fakes[name].shown[0]?.text ?? '';
    const unescaped = text.replaceAll('\u200B', '').replaceAll('&lt;', '<').replaceAll('&gt;', '>');
    expect(unescaped.split('\n')).toEqual(lines);
    const body = fakes[name].calls.at(-1)?.body;
    expect([body?.['markdown_text'], body?.['rich_message'], body?.['parse_mode']]).toEqual([undefined, undefined, undefined]);
    expect(text.includes('&lt;b&gt;')).toBe(name === 'slack');
  });

  it.each(['throttled', 'gone'] as const)('says that the platform refused: %s', async (kind) => {
    fakes[name].refuseNext(kind);
    const refusal = await refusalOf(ports[name].post(fakes[name].threadOf(), 'No'));
    expect(refusal.kind).toBe(kind);
    // Meta does not say when.
    expect(refusal.retryAfterMs).toBe(kind === 'throttled' && name !== 'whatsapp' ? 2000 : undefined);
  });

  it('may try again after the platform failed', async () => {
    fakes[name].refuseNext('broken');
    expect((await refusalOf(ports[name].post(fakes[name].threadOf(), 'No'))).kind).toBe('transient');
    await ports[name].post(fakes[name].threadOf(), 'Yes');
    expect(fakes[name].shown.map(({ text }) => text)).toEqual(['Yes']);
  });

  it('does not know whether a post was shown when the platform failed at it', async () => {
    fakes[name].refuseNext('unsure');
    expect((await refusalOf(ports[name].post(fakes[name].threadOf(), 'Perhaps'))).kind).toBe('unknown');
    expect(fakes[name].shown.map(({ text }) => text)).toEqual(['Perhaps']);
    if (!canEdit(name)) return;
    fakes[name].refuseNext('unsure');
    const { id } = fakes[name].shown[0] ?? { id: '' };
    expect((await refusalOf(ports[name].edit(fakes[name].threadOf(), id, 'Perhaps not'))).kind).toBe('transient');
  });

  it('gives refused edits the same kinds', async () => {
    if (!canEdit(name)) return;
    const { id } = await ports[name].post(fakes[name].threadOf(), 'Here');
    fakes[name].refuseNext('throttled', 'gone', 'broken');
    const edit = async (): Promise<unknown> => (await refusalOf(ports[name].edit(fakes[name].threadOf(), id, 'There'))).kind;
    expect([await edit(), await edit(), await edit()]).toEqual(['throttled', 'gone', 'transient']);
    const ofNone = await refusalOf(ports[name].edit(fakes[name].threadOf(), unknownId(name), 'There'));
    expect(ofNone.kind).toBe('gone');
  });

  it('keeps names from calling people, and code as it is', async () => {
    if (name !== 'slack' && name !== 'discord') return;
    await ports[name].post(fakes[name].threadOf(), 'Hi @everyone, <!channel> and a@b.com: `@decorator`');
    const text = fakes[name].shown[0]?.text ?? '';
    expect(text).not.toMatch(/@everyone|<!channel/);
    expect(text).toContain('a@b.com');
    expect(text).toContain('`@decorator`');
  });
});

describe('the port of Telegram', () => {
  it('writes plainly what is refused with marks, whatever Telegram says of them, and the next text with marks', async () => {
    fakes.telegram.dislikes = 'odd';
    const { id } = await ports.telegram.post('telegram:4001', '**odd** one');
    await ports.telegram.edit('telegram:4001', id, '**odd** one, longer');
    await ports.telegram.post('telegram:4001', '**Bold**');
    expect(fakes.telegram.shown.map(({ text, edits }) => [text, edits])).toEqual([
      ['odd one, longer', 1],
      ['**Bold**', 0],
    ]);
    expect(fakes.telegram.calls.at(-1)?.body['rich_message']).toEqual({ markdown: '**Bold**' });
  });

  it('writes for a server that knows no rich messages', async () => {
    fakes.telegram.isOld = true;
    const { id } = await ports.telegram.post('telegram:4001', '**Bold** and 1.5');
    await ports.telegram.edit('telegram:4001', id, '**Bold** and 2.5');
    expect(fakes.telegram.shown.map(({ text }) => text)).toEqual(['*Bold* and 2.5']);
  });

  it('changes a group at most 20 times a minute, all of its topics together, and a private chat once a second', async () => {
    fakes.telegram.topics.add(9);
    await ports.telegram.post('telegram:-77:9', 'In a topic');
    expect(ports.telegram.quietMs('telegram:-77')).toBeGreaterThan(2900);
    await ports.telegram.post('telegram:4077', 'In private');
    expect(ports.telegram.quietMs('telegram:4077')).toBeLessThanOrEqual(1100);
    expect(ports.telegram.quietMs('telegram:4078')).toBe(0);
  });

  it('follows a group that became a supergroup, and edits what it posted there', async () => {
    fakes.telegram.moved.set('-5', -1005);
    const { id } = await ports.telegram.post('telegram:-5', 'Still here');
    await ports.telegram.edit('telegram:-5', id, 'Still here, and there');
    expect(fakes.telegram.shown.map(({ chat, text }) => [chat, text])).toEqual([['-1005', 'Still here, and there']]);
  });

  it('counts an edit that changes nothing as done', async () => {
    const { id } = await ports.telegram.post('telegram:4001', 'Same');
    await expect(ports.telegram.edit('telegram:4001', id, 'Same')).resolves.toBeUndefined();
  });
});

describe('the port of WhatsApp', () => {
  it.each([
    ['see [1], 2 * 3 and ~7', 'see [1], 2 * 3 and ~7'],
    ['**bold**, *it* and [the docs](https://example.com/a_b)', '*bold*, _it_ and the docs (https://example.com/a_b)'],
    ['go to https://example.com/a_b?c=1', 'go to https://example.com/a_b?c=1'],
    ['[https://example.com/](https://example.com/)', 'https://example.com/'],
    ['2*3*4 and 2**3**4, _x_', '2*3*4 and 2**3**4, _x_'],
    ['これは**重要**です、这是*重点*内容', 'これは*重要*です、这是_重点_内容'],
    ['write to <a@b.com> or <https://example.com>', 'write to a@b.com or https://example.com'],
    [
      '![a cat](https://example.com/cat.png) ![](https://example.com/d.png)',
      'a cat (https://example.com/cat.png) https://example.com/d.png',
    ],
    ['a < b && c > d, \\*no\\* mark &amp; all', 'a < b && c > d, *no* mark & all'],
    [
      '# A **title**\n\n> quoted **so**\n> on\n\n- one\n  - ~~two~~\n3. three',
      '*A title*\n\n> quoted *so*\n> on\n\n- one\n  - ~two~\n3. three',
    ],
    ['[the docs][1] say\n\n[1]: https://example.com/', 'the docs (https://example.com/) say'],
    ['---', '━━━'],
    ['`a\\[0]` and\n\n```\nx = \\[y\\]\n```', '`a\\[0]` and\n\n```\nx = \\[y\\]\n```'],
  ])('writes what people are to read, and no marks of markdown: %j', async (text, shown) => {
    await ports.whatsapp.post(fakes.whatsapp.threadOf(), text);
    expect(fakes.whatsapp.shown.map((message) => message.text)).toEqual([shown]);
  });
});

describe('typing', () => {
  it.each(['telegram', 'discord'] as const)('shows on %s', async (name) => {
    const before = fakes[name].typings;
    await ports[name].startTyping(fakes[name].threadOf());
    expect(fakes[name].typings).toBe(before + 1);
  });

  it('shows in a thread of Slack, and is nothing elsewhere', async () => {
    const before = fakes.slack.typings;
    await ports.slack.startTyping('slack:D4001:');
    await ports.slack.startTyping('slack:C1:1777000000.000001');
    expect(fakes.slack.typings).toBe(before + 1);
  });
});

describe('a platform that does not answer', () => {
  it('is tried again when it could not be reached', async () => {
    const kinds = await kindsAt(`http://127.0.0.1:${await freePort()}`);
    expect(kinds).toEqual({ post: 'transient', edit: 'transient' });
  });

  it.each([
    ['breaks off', (request: IncomingMessage) => void request.socket.destroy()],
    ['is silent', () => undefined],
  ])('and %s may have shown a post, which is not made again; an edit is', async (_what, respond) => {
    const endpoint = await startFakeHttpEndpoint((_response, request) => respond(request));
    try {
      expect(await kindsAt(endpoint.url)).toEqual({ post: 'unknown', edit: 'transient' });
    } finally {
      await endpoint.close();
    }
  });
});

/** With Discord, which asks nothing before. */
async function kindsAt(url: string): Promise<{ post: unknown; edit: unknown }> {
  const env = { ...fakes.discord.env, DISCORD_API_URL: url };
  const lonely = await openTestParts({ redisUrl: redis.url, env, settings: { chat: { callTimeoutMs: 500 } } });
  const { discord } = await openPorts(lonely);
  const post = (await refusalOf(discord.post('discord:@me:1', 'Hello'))).kind;
  const edit = (await refusalOf(discord.edit('discord:@me:1', '2', 'Hello'))).kind;
  await lonely.close();
  return { post, edit };
}

/** What stays of a text when marks and the white space between its words may differ. */
function lettersOf(text = ''): string {
  return text.replaceAll(/[^A-Za-z0-9]/g, '');
}

function unknownId(name: PlatformName): string {
  return name === 'telegram' ? '4001:1' : '1777000000.000000';
}

const takeFileMethods = (): string[] => fakes.telegram.files.splice(0).map(({ method }) => method);

describe('a file on Telegram', () => {
  const picture = { name: 'wide.png', mediaType: 'image/png', data: Buffer.from('a wide picture') };
  const send = async (): Promise<unknown> => await ports.telegram.sendFile?.(fakes.telegram.threadOf('6001'), picture);

  it('goes as a document when it is refused as a photo', async () => {
    fakes.telegram.refuseNext('gone');
    await send();
    expect(takeFileMethods()).toEqual(['sendDocument']);
  });

  it('is not sent a second way when it may have arrived the first', async () => {
    fakes.telegram.refuseNext('unsure');
    expect((await refusalOf(send())).kind).toBe('unknown');
    expect(takeFileMethods()).toEqual(['sendPhoto']);
  });
});
