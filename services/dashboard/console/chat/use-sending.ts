import { useRef, type RefObject } from 'react';
import { sendMessage } from '../api/session-calls.ts';
import type { ConversationChange } from './conversation.ts';
import { randomKey } from './random-key.ts';

/** A message whose sending failed: nobody knows whether it was accepted. */
interface Unsure {
  text: string;
  key: string;
}

export interface Sending {
  /** Sends a message, and adds what its answer says to the conversation. Throws when it may not have been accepted. */
  deliver: (text: string, agent: string | null) => Promise<void>;
  /** Does it when the messages before are sent: of two requests at once, either may be accepted first. */
  sendInTurn: (text: string, send: () => Promise<boolean>) => Promise<boolean>;
}

/** What is not known of a message that was just sent. */
const BLANK = { error: null, answer: '', attempt: 0, seq: 0 } as const;

/** How messages get from the box into a session: each once, in the order in which they were typed. */
export function useSending(session: string, change: (change: ConversationChange) => void): Sending {
  const lines = useRef(0);
  const unsure = useRef<Unsure | null>(null);
  const sending = useRef<Promise<unknown>>(Promise.resolve());
  return {
    deliver: async (text, agent) => {
      const message = { text, ...(agent === null ? {} : { agent }) };
      const sent = await sendOnce(unsure, text, (key) => sendMessage(session, message, key));
      if ('command' in sent) {
        lines.current += 1;
        change({ kind: 'line', id: `line-${lines.current}`, text: sent.text });
        return;
      }
      const { id, status, outcome } = sent;
      change({ kind: 'sent', message: { ...BLANK, id, text, agent, status, outcome: outcome ?? null } });
    },
    sendInTurn: (text, send) => {
      // A command waits for nothing: it may be to stop what hangs.
      if (text.startsWith('/')) return send();
      const sent = sending.current.then(send);
      sending.current = sent;
      return sent;
    },
  };
}

/**
 * The same text sent again after a failure has the same key: it may have been accepted although no answer came back. Sent again
 * after an answer it is another message.
 */
async function sendOnce<T>(unsure: RefObject<Unsure | null>, text: string, call: (key: string) => Promise<T>): Promise<T> {
  const key = unsure.current?.text === text ? unsure.current.key : randomKey();
  try {
    const sent = await call(key);
    if (unsure.current?.key === key) unsure.current = null;
    return sent;
  } catch (error) {
    unsure.current = { text, key };
    throw error;
  }
}
