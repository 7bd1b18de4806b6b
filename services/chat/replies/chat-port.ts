import { Actions, type AdapterPostableMessage, Button, Card, CardText } from 'chat';
import { DeliveryRefused, type ChatPort, type ChatQuestion, type OutgoingFile } from '#shared/deliveries/index.ts';
import { ellipsize } from '#shared/text/index.ts';
import { LATE, Recent, within } from '#shared/time/index.ts';
import type { PlatformDriver } from '../platforms/platform-driver.ts';
import { refusalOf, type CallKind } from './refusal-of.ts';

interface ChatPortOptions {
  /** How long one call may take. */
  callTimeoutMs: number;
  /** How long a file may take. */
  sendFileTimeoutMs: number;
  /** Makes the adapter ready, which costs calls the first time. */
  ready: () => Promise<void>;
}

/** A platform as deliveries use it: calls are bounded in time, and errors have a kind. */
export function createChatPort(driver: PlatformDriver, { callTimeoutMs, sendFileTimeoutMs, ready }: ChatPortOptions): ChatPort {
  const { adapter, name, maxCharacters } = driver;
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
  const postFile = async (thread: string, messages: readonly AdapterPostableMessage[]): Promise<{ readonly id: string }> => {
    const [message, ...others] = messages;
    if (message === undefined) throw new DeliveryRefused('gone', `${name} takes no such file`);
    pace.changed(driver.channelOf(thread));
    try {
      const { id } = await call('post', () => adapter.postMessage(thread, message), sendFileTimeoutMs);
      return { id };
    } catch (error) {
      const isRefused = error instanceof DeliveryRefused && error.kind === 'gone';
      if (others.length === 0 || !isRefused) throw error;
      return await postFile(thread, others);
    }
  };
  const sendFile = async (thread: string, file: OutgoingFile): Promise<{ readonly id: string }> =>
    await postFile(thread, driver.fileMessages?.(file) ?? []);
  return {
    ...('fileMessages' in driver ? { sendFile } : {}),
    platform: name,
    maxCharacters,
    canEdit: driver.minEditMs !== null,
    quietMs: (thread) => pace.quietMs(driver.channelOf(thread), driver.minEditMs?.(thread) ?? 0),
    startTyping: (thread) => call('edit', () => adapter.startTyping(thread)),
    post: async (thread, text, { isPlain } = { isPlain: false }) => {
      const message = isPlain ? driver.renderPlain(text) : driver.render(text);
      pace.changed(driver.channelOf(thread));
      const { id } = await call('post', () => adapter.postMessage(thread, message));
      return { id };
    },
    ask: async (thread, question) => {
      pace.changed(driver.channelOf(thread));
      const { id } = await call('post', () => adapter.postMessage(thread, questionCard(question, driver.maxCharacters)));
      return { id };
    },
    edit: async (thread, id, text) => {
      pace.changed(driver.channelOf(thread));
      try {
        await call('edit', () => adapter.editMessage(thread, id, driver.render(text)));
      } catch (error) {
        if (!isSameText(error)) throw error;
      }
    },
  };
}

/** A question with a button for each choice. The id of a button says which, see `parseAction`. */
function questionCard({ id, text, choices }: ChatQuestion, maxCharacters: number): AdapterPostableMessage {
  const buttons = choices.map((choice, at) => Button({ id: `${id}.${at + 1}`, label: choice }));
  return Card({ children: [CardText(ellipsize(text, maxCharacters)), Actions(buttons)] });
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
