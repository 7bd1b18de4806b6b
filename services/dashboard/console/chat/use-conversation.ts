import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useReducer, useState, useRef, type RefObject } from 'react';
import type { Session } from '../api/records.ts';
import { readSession, sessionStreamPath, setSessionMode, stopSession, sendMessage } from '../api/session-calls.ts';
import { useLiveEvents, type Connection } from '../api/use-live-events.ts';
import { changeConversation, EMPTY_CONVERSATION, isOpen, type Conversation, type ConversationChange } from './conversation.ts';
import { LIVE_EVENTS, readLiveEvent } from './read-live-event.ts';
import { randomKey } from '../parts/random-key.ts';

/** Between two looks at what waits, while something does; the stream says the rest at once. */
const LOOK_MS = 2000;

interface OpenConversation {
  conversation: Conversation;
  /** What runs and what waits, and why; undefined until it is known. */
  session: Session | undefined;
  connection: Connection;
  /** What went wrong last, until something else is tried. */
  problem: unknown;
  /** Resolves to whether it was accepted. */
  send: (text: string, agent: string | null) => Promise<boolean>;
  stop: () => Promise<boolean>;
  setMode: (mode: string) => Promise<boolean>;
}

/** A session's conversation as it goes on, and what one can do in it. */
export function useConversation(id: string): OpenConversation {
  const [conversation, change] = useReducer(changeConversation, EMPTY_CONVERSATION);
  const [problem, setProblem] = useState<unknown>(null);
  const queries = useQueryClient();
  const isBusy = conversation.messages.some(isOpen);
  const { data: session } = useQuery({
    queryKey: ['session', id],
    queryFn: ({ signal }) => readSession(id, signal),
    refetchInterval: isBusy ? LOOK_MS : false,
  });
  // A look that is on its way already is soon enough: much may happen in a moment.
  const lookAgain = (): void => {
    for (const queryKey of [['session', id], ['sessions']]) void queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
  };
  const connection = useLiveEvents({
    url: sessionStreamPath(id),
    names: LIVE_EVENTS,
    onEvent: (name, data) => {
      const read = readLiveEvent(name, data);
      if (read === null) return;
      change(read);
      if (read.kind !== 'output') lookAgain();
    },
  });
  const attempt = async (act: () => Promise<void>): Promise<boolean> => {
    setProblem(null);
    try {
      await act();
      lookAgain();
      return true;
    } catch (error) {
      setProblem(error);
      return false;
    }
  };
  const { deliver, sendInTurn } = useSending(id, change);
  return {
    conversation,
    session,
    connection,
    problem,
    send: (text, agent) => sendInTurn(text, () => attempt(() => deliver(text, agent))),
    stop: () => attempt(() => stopSession(id)),
    setMode: (mode) => attempt(() => setSessionMode(id, mode)),
  };
}

/** A message whose sending failed: nobody knows whether it was accepted. */
interface Unsure {
  text: string;
  key: string;
}

interface Sending {
  /** Sends a message, and adds what its answer says to the conversation. Throws when it may not have been accepted. */
  deliver: (text: string, agent: string | null) => Promise<void>;
  /** Does it when the messages before are sent: of two requests at once, either may be accepted first. */
  sendInTurn: (text: string, send: () => Promise<boolean>) => Promise<boolean>;
}

/** What is not known of a message that was just sent. */
const BLANK = { error: null, answer: '', attempt: 0, seq: 0 } as const;

/** How messages get from the box into a session: each once, in the order in which they were typed. */
function useSending(session: string, change: (change: ConversationChange) => void): Sending {
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
