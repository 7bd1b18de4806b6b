import type { AdapterPostableMessage } from 'chat';
import { DeliveryRefused, type ChatPort, type ChatQuestion, type OutgoingFile } from '#shared/deliveries/index.ts';
import { LATE, Recent, within } from '#shared/time/index.ts';
import type { PlatformDriver } from '../platforms/platform-driver.ts';
import type { AskedMessages } from './asked-messages.ts';
import { closedMessage, questionMessages } from './question-message.ts';
import { refusalOf, type CallKind } from './refusal-of.ts';

interface ChatPortOptions {
  /** How long one call may take. */
  callTimeoutMs: number;
  /** How long a file may take. */
  sendFileTimeoutMs: number;
  /** What its messages ask. */
  asked: Pick<AskedMessages, 'note'>;
  /** Makes the adapter ready, which costs calls the first time. */
  ready: () => Promise<void>;
}

/** A platform as deliveries use it: calls are bounded in time, and errors have a kind. */
export function createChatPort(driver: PlatformDriver, options: ChatPortOptions): ChatPort {
  const { adapter, name, maxCharacters } = driver;
  const { pace, call, post, edit } = platformCalls(driver, options);
  const postFile = async (thread: string, messages: readonly AdapterPostableMessage[]): Promise<Posted> => {
    const [message, ...others] = messages;
    if (message === undefined) throw new DeliveryRefused('gone', `${name} takes no such file`);
    try {
      return await post(thread, message, options.sendFileTimeoutMs);
    } catch (error) {
      const isRefused = error instanceof DeliveryRefused && error.kind === 'gone';
      if (others.length === 0 || !isRefused) throw error;
      return await postFile(thread, others);
    }
  };
  const ask = async (thread: string, question: ChatQuestion): Promise<Posted> => {
    let last = { id: '' };
    for (const message of questionMessages(driver, question)) {
      last = await post(thread, message);
      await options.asked.note(driver.channelOf(thread), last.id, question.id);
    }
    return last;
  };
  const sendFile = async (thread: string, file: OutgoingFile): Promise<Posted> => await postFile(thread, driver.fileMessages?.(file) ?? []);
  return {
    ...('fileMessages' in driver ? { sendFile } : {}),
    platform: name,
    maxCharacters,
    canEdit: driver.minEditMs !== null,
    quietMs: (thread) => pace.quietMs(driver.channelOf(thread), driver.minEditMs?.(thread) ?? 0),
    startTyping: (thread) => call('edit', () => adapter.startTyping(thread)),
    post: (thread, text, { isPlain } = { isPlain: false }) => post(thread, isPlain ? driver.renderPlain(text) : driver.render(text)),
    ask,
    close: (thread, id, { question, end }) => edit(thread, id, closedMessage(driver, question, end)),
    edit: (thread, id, text) => edit(thread, id, driver.render(text)),
  };
}

interface Posted {
  readonly id: string;
}

interface PlatformCalls {
  pace: ChatPace;
  call: <T>(kind: CallKind, act: () => Promise<T>, timeoutMs?: number) => Promise<T>;
  post: (thread: string, message: AdapterPostableMessage, timeoutMs?: number) => Promise<Posted>;
  edit: (thread: string, id: string, message: AdapterPostableMessage) => Promise<void>;
}

function platformCalls(driver: PlatformDriver, { callTimeoutMs, ready }: ChatPortOptions): PlatformCalls {
  const { adapter, name } = driver;
  const pace = new ChatPace();
  const call = async <T>(kind: CallKind, act: () => Promise<T>, timeoutMs = callTimeoutMs): Promise<T> => {
    let isSent = false;
    const acting = ready().then(() => {
      isSent = true;
      return act();
    });
    const outcome = await within(acting, timeoutMs).catch((error: unknown) => {
      throw refusalOf(error, kind);
    });
    if (outcome !== LATE) return outcome;
    const refusal = kind === 'post' && isSent ? 'unknown' : 'transient';
    throw new DeliveryRefused(refusal, `${name} did not answer within ${timeoutMs} ms`);
  };
  const post: PlatformCalls['post'] = async (thread, message, timeoutMs) => {
    pace.changed(driver.channelOf(thread));
    const { id } = await call('post', () => adapter.postMessage(thread, message), timeoutMs);
    return { id };
  };
  const edit: PlatformCalls['edit'] = async (thread, id, message) => {
    pace.changed(driver.channelOf(thread));
    try {
      await call('edit', () => adapter.editMessage(thread, id, message));
    } catch (error) {
      if (!isSameText(error)) throw error;
    }
  };
  return { pace, call, post, edit };
}

/** Telegram refuses an edit that changes nothing, and only its text shows that. The message is as it should be. */
function isSameText(error: unknown): boolean {
  return error instanceof DeliveryRefused && error.message.includes('message is not modified');
}

/** Bound of the remembered chats; the longest unchanged ones are dropped first. */
const MAX_CHATS = 10_000;

/**
 * ChatPace is responsible for how often one chat of a platform changes. All its posts and edits share one interval, because platforms count
 * them together.
 */
class ChatPace {
  /** Chat -> when it was changed last, monotonic ms. */
  readonly #changedAt = new Recent<string, number>({ maxEntries: MAX_CHATS });

  changed(chat: string): void {
    this.#changedAt.set(chat, performance.now());
  }

  /** How long until the chat may be changed again, when at least `everyMs` are between two changes. */
  quietMs(chat: string, everyMs: number): number {
    const changedAt = this.#changedAt.get(chat);
    return changedAt === undefined ? 0 : Math.max(0, changedAt + everyMs - performance.now());
  }
}
