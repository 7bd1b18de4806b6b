import { DeliveryRefused, type ChatPort } from '#shared/deliveries/index.ts';
import { LATE, within } from '#shared/time/index.ts';
import { ChatPace } from './chat-pace.ts';
import type { PlatformKit } from './platforms/platform-kit.ts';
import { refusalOf, type CallKind } from './platforms/refusal-of.ts';

export interface ChatPortOptions {
  /** How long one call may take. */
  callTimeoutMs: number;
  /** Makes the adapter ready, which costs calls the first time. */
  ready: () => Promise<void>;
}

/** A platform as deliveries use it: bounded in time, and with its errors sorted. */
export function createChatPort(kit: PlatformKit, { callTimeoutMs, ready }: ChatPortOptions): ChatPort {
  const { adapter, name, maxCharacters } = kit;
  const pace = new ChatPace();
  const call = async <T>(kind: CallKind, act: () => Promise<T>): Promise<T> => {
    let isSent = false;
    const acting = ready().then(() => {
      isSent = true;
      return act();
    });
    const outcome = await within(acting, callTimeoutMs).catch((error: unknown) => {
      throw refusalOf(error, kind);
    });
    if (outcome !== LATE) return outcome;
    const refusal = kind === 'post' && isSent ? 'unknown' : 'transient';
    throw new DeliveryRefused(refusal, `${name} did not answer within ${callTimeoutMs} ms`);
  };
  return {
    platform: name,
    maxCharacters,
    canEdit: kit.minEditMs !== null,
    quietMs: (thread) => pace.quietMs(kit.channelOf(thread), kit.minEditMs?.(thread) ?? 0),
    startTyping: (thread) => call('edit', () => adapter.startTyping(thread)),
    post: async (thread, text, { isPlain } = { isPlain: false }) => {
      const message = isPlain ? kit.renderPlain(text) : kit.render(text);
      pace.changed(kit.channelOf(thread));
      const { id } = await call('post', () => adapter.postMessage(thread, message));
      return { id };
    },
    edit: async (thread, id, text) => {
      pace.changed(kit.channelOf(thread));
      try {
        await call('edit', () => adapter.editMessage(thread, id, kit.render(text)));
      } catch (error) {
        if (!isSameText(error)) throw error;
      }
    },
  };
}

/** Telegram refuses an edit that changes nothing, and says so in words only. The message is as it was to be. */
function isSameText(error: unknown): boolean {
  return error instanceof DeliveryRefused && error.message.includes('message is not modified');
}
