import {
  findButton,
  labelsIn,
  servePlatform,
  timeOf,
  type FakePlatform,
  type PlatformAnswer,
  type PlatformCall,
  type Refusal,
  type SentFile,
  type ShownMessage,
} from './fake-platform.ts';

const TOKEN = '7000000001:test-token';
const SECRET = 'telegram-webhook-secret';
const MAX_CHARACTERS = 4096;
const BUTTON = ['callback_data', 'text'] as const;

const REFUSALS: Readonly<Record<Refusal, PlatformAnswer>> = {
  throttled: no(429, 'Too Many Requests: retry after 2', { parameters: { retry_after: 2 } }),
  gone: no(403, 'Forbidden: bot was blocked by the user'),
  broken: no(503, 'Service Unavailable'),
  unsure: no(500, 'Internal Server Error'),
};

export interface FakeTelegram extends FakePlatform {
  readonly secret: string;
  /** The topics of its chats; any other thread takes no message. */
  readonly topics: Set<number>;
  /** An older Bot API server knows no rich messages; it reads MarkdownV2 only. */
  isOld: boolean;
  /** A formatted text that has this in it is refused, in words that no document has. */
  dislikes: string;
  /** Groups that became supergroups, with their new ids. */
  readonly moved: Map<string, number>;
}

/** Telegram's Bot API on the loopback: https://core.telegram.org/bots/api */
export async function startFakeTelegram(): Promise<FakeTelegram> {
  const calls: PlatformCall[] = [];
  const shown: ShownMessage[] = [];
  const refusals: Refusal[] = [];
  const respond = (call: PlatformCall): PlatformAnswer => {
    const method = call.path.replace(`/bot${TOKEN}/`, '');
    if (method === 'getMe') return yes({ id: 7_000_000_001, is_bot: true, first_name: 'Muster', username: 'muster_bot' });
    if (method === 'sendChatAction') {
      platform.typings += 1;
      return yes(true);
    }
    if (method === 'answerCallbackQuery') return yes(true);
    const file = sendFile(method, call);
    if (file !== null) return file;
    if (method === 'sendRichMessage' && platform.isOld) return no(404, 'Not Found: method not found');
    const refusal = refusals.shift();
    if (refusal !== undefined && refusal !== 'unsure') return REFUSALS[refusal];
    const answer = apply(method, call);
    return refusal === undefined ? answer : REFUSALS[refusal];
  };
  const apply = (method: string, call: PlatformCall): PlatformAnswer => {
    const moved = platform.moved.get(String(call.body['chat_id']));
    if (moved !== undefined) {
      return no(400, 'Bad Request: group chat was upgraded to a supergroup chat', { parameters: { migrate_to_chat_id: moved } });
    }
    const isFormatted = call.body['rich_message'] !== undefined || call.body['parse_mode'] !== undefined;
    if (isFormatted && textOf(call.body).includes(platform.dislikes)) return no(400, 'Bad Request: MESSAGE_ENTITY_PECULIAR');
    if (method === 'sendMessage' || method === 'sendRichMessage') return post(platform, call.body);
    if (method === 'sendDocument' || method === 'sendPhoto') return postFile(platform, method, call.body);
    if (method === 'editMessageText') return edit(shown, call.body);
    return no(404, 'Not Found: method not found');
  };
  const { url, close } = await servePlatform(calls, respond);
  const platform: FakeTelegram = {
    name: 'telegram',
    secret: SECRET,
    url,
    env: { TELEGRAM_BOT_TOKEN: TOKEN, TELEGRAM_WEBHOOK_SECRET: SECRET, TELEGRAM_API_URL: url },
    shown,
    calls,
    typings: 0,
    files: [],
    topics: new Set(),
    isOld: false,
    dislikes: '\0',
    moved: new Map(),
    refuseNext: (...more) => void refusals.push(...more),
    personWrites: ({ text, number, chat = '4001', user = chat, sentAt = timeOf(number), repliesTo }) =>
      telegramUpdate({
        update_id: 900_000 + Number(chat) * 1000 + number,
        message: {
          message_id: number,
          date: Math.floor(sentAt / 1000),
          chat: { id: Number(chat), type: 'private', first_name: 'Ada' },
          from: { id: Number(user), is_bot: false, first_name: 'Ada', username: 'ada' },
          text,
          // https://core.telegram.org/bots/api#message
          ...(repliesTo === undefined
            ? {}
            : {
                reply_to_message: view(
                  shown.find(({ id }) => id === repliesTo) ?? { id: repliesTo, chat, text: '?', edits: 0, buttons: [] },
                ),
              }),
          ...(text.startsWith('/') ? { entities: [{ type: 'bot_command', offset: 0, length: text.split(/\s/)[0]?.length ?? 0 }] } : {}),
        },
      }),
    // https://core.telegram.org/bots/api#callbackquery
    personPresses: ({ label, chat = '4001', user = chat }) =>
      telegramUpdate({
        update_id: 1_900_000 + calls.length,
        callback_query: {
          id: `press-${calls.length}`,
          chat_instance: '1',
          from: { id: Number(user), is_bot: false, first_name: 'Ada', username: 'ada' },
          message: { message_id: 5000, date: 1_777_000_500, chat: { id: Number(chat), type: 'private', first_name: 'Ada' } },
          data: findButton(calls, BUTTON, label),
        },
      }),
    threadOf: (chat = '4001') => `telegram:${chat}`,
    close,
  };
  return platform;
}

/** An update with the secret that the webhook was set with. */
export function telegramUpdate(update: Record<string, unknown>): { body: string; headers: Record<string, string> } {
  return {
    body: JSON.stringify(update),
    headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': SECRET },
  };
}

function post({ shown, topics }: FakeTelegram, body: Record<string, unknown>): PlatformAnswer {
  const thread = body['message_thread_id'];
  if (thread !== undefined && !topics.has(Number(thread))) return no(400, 'Bad Request: message thread not found');
  const text = textOf(body);
  if (text.length > MAX_CHARACTERS) return no(400, 'Bad Request: message is too long');
  const message = {
    id: String(5000 + shown.length),
    chat: String(body['chat_id']),
    text,
    edits: 0,
    buttons: labelsIn(body['reply_markup'], BUTTON),
  };
  shown.push(message);
  return yes(view(message));
}

function edit(shown: ShownMessage[], body: Record<string, unknown>): PlatformAnswer {
  const message = shown.find(({ id }) => id === String(body['message_id']));
  if (!message) return no(400, 'Bad Request: message to edit not found');
  const text = textOf(body);
  if (text.length > MAX_CHARACTERS) return no(400, 'Bad Request: message is too long');
  if (text === message.text) return no(400, 'Bad Request: message is not modified');
  message.text = text;
  message.buttons = labelsIn(body['reply_markup'], BUTTON);
  message.edits += 1;
  return yes(view(message));
}

function postFile({ files }: FakeTelegram, method: string, body: Record<string, unknown>): PlatformAnswer {
  const chat = String(body['chat_id']);
  files.push({ method, chat, ...((body['photo'] ?? body['document']) as SentFile) });
  return yes(view({ id: String(7000 + files.length), chat, text: '', edits: 0, buttons: [] }));
}

/** What a reader sees: the escapes of MarkdownV2 are not shown. */
function textOf(body: Record<string, unknown>): string {
  const rich = body['rich_message'] as { markdown: string } | undefined;
  const text = rich?.markdown ?? String(body['text']);
  return body['parse_mode'] === 'MarkdownV2' ? text.replaceAll(/\\(.)/g, '$1') : text;
}

function view({ id, chat, text }: ShownMessage): Record<string, unknown> {
  const from = { id: 7_000_000_001, is_bot: true, first_name: 'Muster', username: 'muster_bot' };
  return { message_id: Number(id), date: 1_777_000_500, chat: { id: Number(chat), type: 'private', first_name: 'Ada' }, from, text };
}

function yes(result: unknown): PlatformAnswer {
  return { status: 200, body: { ok: true, result } };
}

function no(status: number, description: string, more: Record<string, unknown> = {}): PlatformAnswer {
  return { status, body: { ok: false, error_code: status, description, ...more } };
}

/** A file and where it is: https://core.telegram.org/bots/api#getfile */
function sendFile(method: string, { path, body }: PlatformCall): PlatformAnswer | null {
  const id = String(body['file_id']);
  if (method === 'getFile') return yes({ file_id: id, file_unique_id: 'u', file_path: `photos/${id}.jpg` });
  const [, filePath] = /\/file\/bot[^/]+\/(.+)$/.exec(path) ?? [];
  return filePath === undefined ? null : { status: 200, body: Buffer.from(`bytes of ${filePath}`) };
}
