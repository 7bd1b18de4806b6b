/** Sends what has this content; `call` gets the idempotency key of the request. */
export type SendOnce = <Answer>(content: string, call: (key: string) => Promise<Answer>) => Promise<Answer>;

interface SendOnceOptions {
  newKey: () => string;
  /** How long a failed request may be repeated under its key. Defaults to no bound. */
  withinMs?: number;
  /** Defaults to the system's. */
  now?: () => number;
}

interface UnconfirmedRequest {
  readonly content: string;
  readonly key: string;
  readonly failedAt: number;
}

/**
 * Makes a function for the requests of one form. When the request before failed and had the same content, it sends under the same key,
 * because that may have been accepted. After an answer the same content is another request.
 */
export function createSendOnce({ newKey, withinMs = Infinity, now = Date.now }: SendOnceOptions): SendOnce {
  let unconfirmed: UnconfirmedRequest | null = null;
  return async (content, call) => {
    const isSame = unconfirmed?.content === content && now() - unconfirmed.failedAt < withinMs;
    const key = isSame && unconfirmed !== null ? unconfirmed.key : newKey();
    try {
      const answer = await call(key);
      if (unconfirmed?.key === key) unconfirmed = null;
      return answer;
    } catch (error) {
      unconfirmed = { content, key, failedAt: now() };
      throw error;
    }
  };
}
