import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useReducer, useState } from 'react';
import type { Session } from '../api/records.ts';
import { readSession, sessionStreamPath, setSessionMode, stopSession } from '../api/session-calls.ts';
import { useLiveEvents, type Connection } from '../api/use-live-events.ts';
import { changeConversation, EMPTY_CONVERSATION, isOpen, type Conversation } from './conversation.ts';
import { LIVE_EVENTS, readLiveEvent } from './read-live-event.ts';
import { useSending } from './use-sending.ts';

/** Between two looks at what waits, while something does; the stream says the rest at once. */
const LOOK_MS = 2000;

export interface OpenConversation {
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
