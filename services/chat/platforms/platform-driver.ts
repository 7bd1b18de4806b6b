import type { Adapter, AdapterPostableMessage, Logger, Message, SlashCommandEvent } from 'chat';
import type { ChatPlatformName } from '#shared/config/index.ts';
import type { OutgoingFile } from '#shared/deliveries/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { ChatAnswer, ChatMessage } from '../receive/chat-message.ts';
import { wait } from '#shared/time/index.ts';

/** Facts of a slash command that each platform has in its own form. */
export interface CommandFacts {
  /** Unique among the platform's messages, so that a repeated message is one task. */
  readonly key: string;
  /** The platform's own number; undefined: it has none, and arrival orders. */
  readonly sequence: number | undefined;
}

/** An adapter. The platforms' classes write an unknown name as undefined, the SDK's interface as an absent property. */
export type PlatformAdapter = Omit<Adapter, 'botUserId'> & { readonly botUserId?: string | undefined };

/** What a platform bounds of a message with buttons, in UTF-16 units. */
export interface ButtonBounds {
  /** The most buttons of one message; a question with more choices has none. */
  readonly max: number;
  readonly labelCharacters: number;
  /** Of all labels in a row, so that people can read them; the platform's own rows where it is infinite. */
  readonly rowCharacters: number;
  /** The longest text above them. */
  readonly textCharacters: number;
  /** The text as its adapter takes it there. It is no longer. */
  write(text: string): string;
}

/** The differences of one platform, around its adapter. */
export interface PlatformDriver {
  readonly name: ChatPlatformName;
  readonly adapter: PlatformAdapter;
  /** The longest text that arrives complete whatever the adapter makes of it, in UTF-16 units. */
  readonly maxCharacters: number;
  /** The shortest time between a change of a chat and an edit in it; null: the platform cannot edit. */
  readonly minEditMs: ((threadId: string) => number) | null;
  /** The text in the form in which the adapter delivers it complete, and formatted as far as possible. */
  render(text: string): AdapterPostableMessage;
  /** The same for a text that is no markdown: each of its lines stays a line. */
  renderPlain(text: string): AdapterPostableMessage;
  readonly buttons: ButtonBounds;
  /** The ways to post a file, the best first: a later way is tried when the platform refuses the one before. Absent: it takes no files. */
  fileMessages?(file: OutgoingFile): readonly AdapterPostableMessage[];
  /** The text of a person, before attachments are named. */
  textOf(message: Message): Promise<string> | string;
  /** Unique among the platform's messages. */
  keyOf(message: Message): string;
  /** The number by which the platform orders messages of one chat; it fits a double. */
  sequenceOf(message: Message): number;
  /** Whether a person changed the text of a changed message. */
  isChangedText?(message: Message): boolean;
  /** Whether a message without text and files comes from a person, and is no notice of the platform. */
  isUnsupported?(message: Message): boolean;
  /** The album that the message is a part of; absent where one message holds all of its files. */
  albumOf?(message: Message): ChatMessage['album'] | null;
  /** The message that a person replied to, by the id that posting it gave; null for none. */
  repliedTo(message: Message): string | null;
  /** The chat, by the platform's own id. */
  channelOf(threadId: string): string;
  /** Whether the thread is a conversation of its own within a chat, which is followed once it named the bot. */
  isSubThread(threadId: string): boolean;
  commandFacts(event: SlashCommandEvent): CommandFacts;
  /** The body that answers a slash command's request; absent: the answer is posted like any other. */
  commandResponse?(answer: ChatAnswer): unknown;
  /** Refuses a request that the adapter would check too weakly. */
  isAllowed?(request: Request): boolean;
  /** Why the platform refuses the bot until a person repairs it; null when it does not, or gives no answer. */
  findRefusal(): Promise<string | null>;
  /**
   * Receives messages from a connection of the platform's own until `signal` aborts or the connection ends for good. `countConnection`: counts
   * one more connection, and returns whether the day had room for it.
   */
  listen?(signal: AbortSignal, countConnection: () => Promise<boolean>): Promise<void>;
}

/** A file without a text, as most platforms take it. */
export function asDocument({ name, mediaType, data }: OutgoingFile): AdapterPostableMessage {
  return { raw: '', files: [{ filename: name, mimeType: mediaType, data }] };
}

/**
 * The log of the adapters, written to ours. Only the error and the status of their fields are kept: the others hold people's texts and at
 * times signatures. Their `error` is one failed call, which its caller handles.
 */
export function sdkLog(log: Log): Logger {
  const warn = (message: string, ...args: unknown[]): void => log.warn({ event: 'chat.adapter', ...fieldsOf(args) }, message);
  const debug = (message: string): void => log.debug({ event: 'chat.adapter' }, message);
  return { child: () => sdkLog(log), debug, info: debug, warn, error: warn };
}

function fieldsOf(args: readonly unknown[]): { reason?: string; status?: number } {
  const [fields] = args;
  if (typeof fields !== 'object' || fields === null) return {};
  return {
    ...('error' in fields ? { reason: fields.error instanceof Error ? fields.error.message : String(fields.error) } : {}),
    ...('status' in fields && typeof fields.status === 'number' ? { status: fields.status } : {}),
  };
}

export interface KeepListeningOptions {
  /** Listens until `signal` aborts or the connection ends for good. */
  listen: (signal: AbortSignal) => Promise<void>;
  signal: AbortSignal;
  log: Log;
  /** The first wait before connecting again; it doubles. By default 5 s. */
  firstMs?: number;
}

/** Discord resets the token of a bot that connects 1000 times a day: 300 s make 288, also for three processes. */
const MAX_WAIT_MS = 300_000;
const FIRST_MS = 5000;
/** A connection that stood for so long was a good one: the next wait is the first again. */
const GOOD_MS = 60_000;

/** Keeps a platform's own connection until `signal` aborts. Never rejects. */
export async function keepListening({ listen, signal, log, firstMs = FIRST_MS }: KeepListeningOptions): Promise<void> {
  for (let waitMs = firstMs; !signal.aborted; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
    const since = performance.now();
    await listen(signal).catch((error: unknown) => log.warn({ event: 'chat.connection-failed', err: error }, 'a connection failed'));
    if (signal.aborted) return;
    if (performance.now() - since > GOOD_MS) waitMs = firstMs;
    log.warn({ event: 'chat.connection-ended', waitMs }, 'a connection to a chat platform ended; it is made again');
    await wait(waitMs, signal);
  }
}
