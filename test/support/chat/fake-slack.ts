import { createHmac } from 'node:crypto';
import {
  findButton,
  labelsIn,
  servePlatform,
  timeOf,
  type FakePlatform,
  type PlatformAnswer,
  type PlatformCall,
  type PlatformRequest,
  type Refusal,
  type SentFile,
  type ShownFile,
  type ShownMessage,
} from './fake-platform.ts';

const BOT_TOKEN = 'xoxb-test';
const SIGNING_SECRET = 'slack-signing-secret';
const MAX_CHARACTERS = 12_000;
const BUTTON = ['action_id', 'text'] as const;

const REFUSALS: Readonly<Record<Refusal, PlatformAnswer>> = {
  throttled: { status: 429, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '2' } },
  gone: no('channel_not_found'),
  broken: { status: 503, body: { ok: false, error: 'service_unavailable' } },
  // Some aspect of the operation may have succeeded, says Slack.
  unsure: no('internal_error'),
};

/** Slack's Web API on the loopback: https://docs.slack.dev/reference/methods */
export async function startFakeSlack(): Promise<FakePlatform> {
  const calls: PlatformCall[] = [];
  const shown: ShownMessage[] = [];
  const files: ShownFile[] = [];
  const refusals: Refusal[] = [];
  /** Files that people sent, by path. */
  const kept = new Map<string, SentFile>();
  const respond = (call: PlatformCall): PlatformAnswer => {
    const method = call.path.slice(1);
    const file = kept.get(call.path);
    // Without the bot's token, Slack shows a page for signing in.
    if (file)
      return call.headers.authorization === `Bearer ${BOT_TOKEN}` ? { status: 200, body: Buffer.from(file.text) } : no('not_authed');
    if (method === 'auth.test') return yes({ user_id: 'UBOT', user: 'muster', bot_id: 'BBOT', team_id: 'T1' });
    if (method === 'users.info') return yes({ user: userOf(String(call.body['user'])) });
    if (method === 'assistant.threads.setStatus') {
      platform.typings += 1;
      return yes({});
    }
    const refusal = refusals.shift();
    if (refusal !== undefined && refusal !== 'unsure') return REFUSALS[refusal];
    const answer = apply(method, call);
    return refusal === undefined ? answer : REFUSALS[refusal];
  };
  const apply = (method: string, call: PlatformCall): PlatformAnswer => {
    const file = uploadFile(files, platform.url, call);
    if (file !== null) return file;
    if (method === 'chat.postMessage') return post(shown, call.body);
    return method === 'chat.update' ? edit(shown, call.body) : no('unknown_method');
  };
  const { url, close } = await servePlatform(calls, respond);
  const platform: FakePlatform = {
    name: 'slack',
    url,
    env: { SLACK_BOT_TOKEN: BOT_TOKEN, SLACK_SIGNING_SECRET: SIGNING_SECRET, SLACK_API_URL: url },
    shown,
    files,
    calls,
    typings: 0,
    refuseNext: (...more) => void refusals.push(...more),
    personWrites: ({ text, number, chat = 'D4001', user = 'UADA', sentAt, repliesTo }) =>
      slackEvent({
        type: 'message',
        channel: chat,
        channel_type: 'im',
        user,
        text,
        ts: slackTs(number, sentAt),
        // https://docs.slack.dev/messaging/#threading
        ...(repliesTo === undefined ? {} : { thread_ts: repliesTo }),
      }),
    personSends: ({ text, number, chat = 'D4001', user = 'UADA' }, file) => {
      const path = `/files-pri/T1-F${number}/${file.name}`;
      kept.set(path, file);
      const { name, mediaType: mimetype } = file;
      const described = { id: `F${number}`, name, title: name, mimetype, size: Buffer.byteLength(file.text), url_private: `${url}${path}` };
      const event = { type: 'message', subtype: 'file_share', channel: chat, channel_type: 'im', user, text, ts: slackTs(number) };
      return slackEvent({ ...event, files: [described] });
    },
    // https://docs.slack.dev/reference/interaction-payloads/block_actions-payload
    personPresses: ({ label, chat = 'D4001', user = 'UADA' }) => {
      const ts = slackTs(900_000);
      const action = { type: 'button', block_id: 'b', action_id: findButton(calls, BUTTON, label), action_ts: ts };
      const payload = {
        type: 'block_actions',
        team: { id: 'T1', domain: 'test' },
        user: { id: user, username: 'ada', name: 'ada', team_id: 'T1' },
        api_app_id: 'A1',
        trigger_id: '1.2.3',
        container: { type: 'message', message_ts: ts, channel_id: chat, is_ephemeral: false },
        channel: { id: chat, name: 'directmessage' },
        message: { type: 'message', ts, text: '' },
        actions: [{ ...action, text: { type: 'plain_text', text: label } }],
      };
      return signSlack(new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), 'application/x-www-form-urlencoded');
    },
    threadOf: (chat = 'D4001') => `slack:${chat}:`,
    close,
  };
  return platform;
}

/** The time by which Slack names and orders a message. */
export function slackTs(number: number, sentAt: number = timeOf(number)): string {
  return `${Math.floor(sentAt / 1000)}.${String(number).padStart(6, '0')}`;
}

/** An event of the Events API, signed now. */
export function slackEvent(event: Record<string, unknown>): PlatformRequest {
  const body = {
    type: 'event_callback',
    team_id: 'T1',
    api_app_id: 'A1',
    event_id: `Ev${String(event['ts'])}`,
    event_time: Math.floor(Date.now() / 1000),
    event,
  };
  return signSlack(JSON.stringify(body), 'application/json');
}

/** A slash command, signed now. */
export function slackCommand(fields: Record<string, string>): PlatformRequest {
  const form = { team_id: 'T1', channel_id: 'D4001', user_id: 'UADA', user_name: 'ada', trigger_id: '1.2.3', ...fields };
  return signSlack(new URLSearchParams(form).toString(), 'application/x-www-form-urlencoded');
}

export function signSlack(body: string, type: string): PlatformRequest {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', SIGNING_SECRET).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    body,
    headers: { 'content-type': type, 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${signature}` },
  };
}

function userOf(id: string): Record<string, unknown> {
  const isBot = id === 'UBOT';
  return { id, name: isBot ? 'muster' : 'ada', is_bot: isBot, profile: { display_name: isBot ? 'Muster Bot' : 'ada', real_name: 'Ada' } };
}

function post(shown: ShownMessage[], body: Record<string, unknown>): PlatformAnswer {
  const text = textOf(body);
  if (text.length > MAX_CHARACTERS) return no('msg_too_long');
  if (!hasFittingBlocks(body)) return no('invalid_blocks');
  const message = {
    id: slackTs(900_000 + shown.length),
    chat: String(body['channel']),
    text,
    edits: 0,
    buttons: labelsIn(body['blocks'], BUTTON),
  };
  shown.push(message);
  return yes({ channel: message.chat, ts: message.id });
}

function edit(shown: ShownMessage[], body: Record<string, unknown>): PlatformAnswer {
  const message = shown.find(({ id }) => id === body['ts']);
  if (!message) return no('message_not_found');
  if (!hasFittingBlocks(body)) return no('invalid_blocks');
  message.text = textOf(body);
  // Without the field the former blocks stay: https://docs.slack.dev/reference/methods/chat.update
  if (body['blocks'] !== undefined) message.buttons = labelsIn(body['blocks'], BUTTON);
  message.edits += 1;
  return yes({ channel: message.chat, ts: message.id });
}

interface Block {
  type: string;
  text?: { text: string };
  elements?: { text: { text: string } }[];
}

/** https://docs.slack.dev/reference/block-kit/blocks */
function hasFittingBlocks({ blocks }: Record<string, unknown>): boolean {
  const all = typeof blocks === 'string' ? (JSON.parse(blocks) as Block[]) : [];
  return all.every(({ text, elements = [] }) => (text?.text.length ?? 0) <= 3000 && elements.every((each) => each.text.text.length <= 75));
}

/** The three calls of an upload: https://docs.slack.dev/messaging/working-with-files#upload */
function uploadFile(files: ShownFile[], url: string, { path, body }: PlatformCall): PlatformAnswer | null {
  if (path === '/files.getUploadURLExternal') {
    files.push({ method: '', chat: '', name: String(body['filename']), mediaType: '', text: '' });
    return yes({ upload_url: `${url}/upload/${files.length - 1}`, file_id: `F${files.length - 1}` });
  }
  const [, number] = /^\/upload\/(\d+)$/.exec(path) ?? [];
  const uploaded = files[Number(number)];
  if (uploaded !== undefined) {
    uploaded.text = contentOf(body);
    return { status: 200, body: 'OK' };
  }
  if (path !== '/files.completeUploadExternal') return null;
  const ids = (JSON.parse(String(body['files'])) as { id: string }[]).map(({ id }) => id);
  for (const id of ids) Object.assign(files[Number(id.slice(1))] ?? {}, { method: path.slice(1), chat: String(body['channel_id']) });
  return yes({ files: ids.map((id) => ({ id })) });
}

/** The bytes are the body, or the only file of a form. */
function contentOf(body: Record<string, unknown>): string {
  if (typeof body['data'] === 'string') return body['data'];
  return Object.values(body)
    .map((value) => (value as SentFile).text)
    .join('');
}

function textOf(body: Record<string, unknown>): string {
  return String(body['markdown_text'] ?? body['text']);
}

function yes(body: Record<string, unknown>): PlatformAnswer {
  return { status: 200, body: { ok: true, ...body } };
}

function no(error: string): PlatformAnswer {
  return { status: 200, body: { ok: false, error } };
}
