import { SlackAdapter, type SlackAdapterConfig } from '@chat-adapter/slack';
import { stringifyMarkdown, type LinkPreview, type Logger, type Message } from 'chat';
import { z } from 'zod';
import { withoutMentions } from '../replies/reply-text.ts';
import { askPlatform } from './ask-platform.ts';
import { downloadOwn, isOwnAddress } from './own-file.ts';
import { asDocument, type CommandFacts, type PlatformDriver } from './platform-driver.ts';
import { isHeard } from './senders.ts';

export interface SlackSecrets {
  botToken: string;
  signingSecret: string;
  apiUrl: string | undefined;
}

/** Slack accepts 12,000 characters of markdown; the difference is for marks that keep names from calling people. */
const MAX_CHARACTERS = 10_000;
const HARD_LIMIT = 12_000;
/** The longest text of a section. */
const SECTION = 3000;
/** Slack repeats an event that is not answered within 3 s; reading a name may not take much longer. */
const API_TIMEOUT_MS = 8000;

const threadSchema = z.object({ thread_ts: z.string() });
const commandSchema = z.object({ trigger_id: z.string().min(1) });
/** Slack marks what a person changed; previews of links change a message too. */
const changedSchema = z.object({ user: z.string(), text: z.string(), edited: z.object({ user: z.string() }) });
/** Errors that stay until a person repairs them: https://docs.slack.dev/reference/methods/auth.test#errors */
const refusedSchema = z.object({
  ok: z.literal(false),
  error: z.enum([
    'invalid_auth',
    'account_inactive',
    'token_revoked',
    'token_expired',
    'not_authed',
    'no_permission',
    'org_login_required',
  ]),
});
/** A message that is nothing but what a person typed. */
const typedSchema = z.object({
  text: z.string(),
  attachments: z.tuple([]).optional(),
  blocks: z.array(z.object({ type: z.literal('rich_text') })).optional(),
});

/** Slack by the Events API and slash commands: direct messages, channels and their threads. */
export function openSlack({ botToken, signingSecret, apiUrl }: SlackSecrets, logger: Logger): PlatformDriver {
  const adapter = new PromptSlackAdapter({
    botToken,
    signingSecret,
    logger,
    // By default the client tries for half an hour by itself, and waits out a 429 silently.
    webClientOptions: {
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      timeout: API_TIMEOUT_MS,
      logger: slackWebLog(logger),
    },
    ...(apiUrl === undefined ? {} : { apiUrl: apiUrl.endsWith('/') ? apiUrl : `${apiUrl}/` }),
  });
  return {
    name: 'slack',
    adapter,
    maxCharacters: MAX_CHARACTERS,
    minEditMs: () => 1200,
    render: (text) => ({ markdown: withoutMentions(text, HARD_LIMIT) }),
    renderPlain: (text) => ({ raw: plainText(text) }),
    // https://docs.slack.dev/reference/block-kit/blocks/section-block and https://docs.slack.dev/reference/block-kit/block-elements/button-element
    buttons: { max: 25, labelCharacters: 75, rowCharacters: Infinity, textCharacters: SECTION, write: sectionText },
    fileMessages: (file) => [asDocument(file)],
    textOf: async (message) => await adapter.textOf(message),
    // A `ts` is unique within its channel only.
    keyOf: ({ id, threadId }) => `${adapter.decodeThreadId(threadId).channel}:${id}`,
    sequenceOf: ({ id }) => Number(id.replace('.', '')),
    // A thread is named after the message that it is below: https://docs.slack.dev/messaging/retrieving-messages#individual_messages
    repliedTo: ({ raw }) => threadSchema.safeParse(raw).data?.thread_ts ?? null,
    isChangedText: ({ raw }) => changedSchema.safeParse(raw).success,
    findRefusal: async () => await adapter.findRefusal(botToken),
    channelOf: (threadId) => adapter.decodeThreadId(threadId).channel,
    isSubThread: (threadId) => !adapter.isDM(threadId) && adapter.decodeThreadId(threadId).threadTs !== '',
    commandFacts: ({ raw }): CommandFacts => ({ key: commandSchema.parse(raw).trigger_id, sequence: undefined }),
    commandResponse: ({ kind, text }) =>
      // Without a text, Slack shows the command itself to the channel.
      kind === 'accepted' ? { response_type: 'in_channel' } : { response_type: 'ephemeral', text: plainText(text) },
    // The adapter would accept events of a socket forwarder with another secret than the signing secret, which is not set here.
    isAllowed: (request) => !request.headers.has('x-slack-socket-token'),
  };
}

/** Ignores senders that are not heard. Without the adapter's waiting for a preview of each link, up to 2 s of the 3 s that Slack gives. Nothing here reads previews. */
class PromptSlackAdapter extends SlackAdapter {
  protected override extractLinks(): LinkPreview[] {
    return [];
  }

  protected override handleMessageEvent(...[event, options]: Parameters<SlackAdapter['handleMessageEvent']>): void {
    if (isHeard('slack', event)) super.handleMessageEvent(event, options);
  }

  protected override async fetchSlackFile(...[url, token]: Parameters<SlackAdapter['fetchSlackFile']>): Promise<Buffer> {
    if (!isOwnAddress(url, this.slackApiUrl)) return await super.fetchSlackFile(url, token);
    return await downloadOwn(url, typeof token === 'function' ? await token() : token);
  }

  async findRefusal(token: string): Promise<string | null> {
    const reply = await askPlatform(`${(this.slackApiUrl ?? 'https://slack.com/api').replace(/\/+$/, '')}/auth.test`, `Bearer ${token}`);
    const answer = refusedSchema.safeParse(reply?.body);
    return answer.success ? `Slack refuses SLACK_BOT_TOKEN (${answer.data.error}): install the app in the workspace again` : null;
  }

  /** A person's text. Shared messages and drawings are in the adapter's markdown only. */
  async textOf({ raw, formatted }: Message): Promise<string> {
    const typed = typedSchema.safeParse(raw);
    return typed.success ? slackText(await this.resolveInlineMentions(typed.data.text)) : stringifyMarkdown(formatted).trim();
  }
}

const ESCAPED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A text as Slack's own notation has it: https://docs.slack.dev/messaging/formatting-message-text#escaping */
function plainText(text: string): string {
  return escapeMarks(withoutMentions(text, HARD_LIMIT), ESCAPED);
}

/** Slack's own marks in what people write: https://docs.slack.dev/messaging/formatting-message-text#retrieving-messages */
const MARK = /<([@#!]|(?=[a-z][\w+.-]*:))([^<>|]+)(?:\|([^<>]*))?>/gi;
const ESCAPE = /&(amp|lt|gt);/g;
const UNESCAPED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' };

/**
 * A person's text, from Slack's notation (`<@id|name>`, `<address|words>`, `&amp;`). All else stays as it is: a round trip through markdown
 * would change `__init__`, `2 * 3 * 4`, lists and quotations.
 */
function slackText(text: string): string {
  return text
    .replaceAll(MARK, (_, kind: string, id: string, words?: string) => shownAs(kind, id, words))
    .replaceAll(ESCAPE, (_, name: string) => UNESCAPED[name] ?? '');
}

function shownAs(kind: string, id: string, words = ''): string {
  if (kind === '@' || kind === '#') return `${kind}${words === '' ? id : words}`;
  // `<!here>`, and with words: groups of people and dates.
  if (kind === '!') return words === '' ? `@${id}` : words;
  return words === '' || words === id || id === `mailto:${words}` ? id.replace(/^mailto:/, '') : `[${words}](${id})`;
}

/** Look the same, and are no longer. */
const LOOKALIKE: Readonly<Record<string, string>> = { '&': '\uFF06', '<': '\u2039', '>': '\u203A' };

/** A text of a section, which Slack bounds as it is escaped. */
function sectionText(text: string): string {
  const silent = withoutMentions(text, SECTION);
  const escaped = escapeMarks(silent, ESCAPED);
  return escaped.length <= SECTION ? escaped : escapeMarks(silent, LOOKALIKE);
}

function escapeMarks(text: string, by: Readonly<Record<string, string>>): string {
  return text.replaceAll(/[&<>]/g, (mark) => by[mark] ?? mark);
}

type WebLog = NonNullable<NonNullable<SlackAdapterConfig['webClientOptions']>['logger']>;

/** The lines of Slack's own client, which would go to the console. What it warns of comes back as an error of the call besides. */
function slackWebLog(logger: Logger): WebLog {
  const debug = (...parts: unknown[]): void => logger.debug(parts.map(String).join(' '));
  return {
    debug: ignore,
    info: debug,
    warn: debug,
    error: debug,
    setName: ignore,
    setLevel: ignore,
    getLevel: () => {
      throw new Error('The level is that of the process');
    },
  };
}

function ignore(): void {
  // The caller reports what failed.
}
