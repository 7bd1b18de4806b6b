/** What OpenAI's protocol needs besides tasks, of one tenant. See `fleetKeys` for the form of the comments. */
export function openaiKeys(prefix: string): OpenaiKeys {
  return keysUnder(prefix);
}

type OpenaiKeys = Readonly<ReturnType<typeof keysUnder>>;

function keysUnder(prefix: string) {
  return {
    /**
     * String: the task of a request in OpenAI's protocol that may come again without a key, by key, path and body. Written by: `accept-request.ts`.
     * Kept: half an hour. Bound: one per request.
     */
    sentRequest: (digest: string) => `${prefix}sent-request:${digest}`,
    /**
     * Hash: of a conversation of OpenAI's protocol its `record` as JSON, item that was added -> JSON, and their `bytes`. Written by:
     * `conversation-store.ts`. Kept: `tasks.retentionMs` after the last use. Bound: `openai.maxConversationItems`.
     */
    conversation: (id: string) => `${prefix}conversation:${id}`,
    /** Sorted set: such a conversation -> its last use, ms. Written by: `conversation-store.ts`. Kept: as `conversation`. Bound: `openai.maxConversations`. */
    conversations: `${prefix}conversations`,
    /** Hash: file that was sent by OpenAI's protocol -> JSON of its purpose and times. Written by: `sent-files.ts`. Kept: as its file. Bound: `files.maxPerTenant`. */
    sentFiles: `${prefix}sent-files`,
    /**
     * Hash: of a batch of OpenAI's protocol its `record` as JSON, where it stands, and `refused:<line>` -> JSON of why. Written by: `batch-store.ts`.
     * Kept: `tasks.retentionMs` after its last change. Bound: `openai.maxBatchRequests`.
     */
    batch: (id: string) => `${prefix}batch:${id}`,
    /** Sorted set: such a batch -> when it was made, ms. Written by: `batch-store.ts`. Kept: as `batch`. Bound: `openai.maxBatches`. */
    batches: `${prefix}batches`,
  };
}
