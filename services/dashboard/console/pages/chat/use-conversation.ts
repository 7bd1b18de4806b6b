import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useReducer, useRef, useState } from 'react';
import type { Session, SetSessionModeRequest } from '#shared/client/openapi.gen.ts';
import { answerOf, api, byId } from '../../api/api.ts';
import { parseSessionEvent } from '../../api/parse-answer.ts';
import { type GivenFile, givenFiles, toTask } from '../../api/task-ref.ts';
import { type Connection, useLiveEvents } from '../../live/live-events.ts';
import { useSendOnce } from '../../parts/actions/use-send-once.ts';
import {
  changeConversation,
  EMPTY_CONVERSATION,
  isOpen,
  LIVE_EVENTS,
  readLiveEvent,
  type ChatMessage,
  type Conversation,
  type ConversationChange,
  type MessageFile,
} from './conversation.ts';

/** The time between two polls of the waiting messages; the stream reports everything else at once. */
const POLL_MS = 2000;

/** What a person sends. */
export interface SentMessage {
  readonly text: string;
  /** Null for the agent that the configuration names. */
  readonly agent: string | null;
  readonly files: readonly SentFile[];
}

export interface SentFile {
  readonly file: GivenFile;
  readonly bytes: number | null;
}

interface OpenConversation {
  conversation: Conversation;
  /** The running and the waiting tasks with their reasons; undefined until loaded. */
  session: Session | undefined;
  connection: Connection;
  /** The error of the last action; null after a success. */
  problem: unknown;
  /** Resolves to whether the message was accepted. */
  send: (message: SentMessage) => Promise<boolean>;
  /** Sends a message of the conversation once more, with its files. */
  sendAgain: (message: ChatMessage) => Promise<boolean>;
  stop: () => Promise<boolean>;
  setMode: (mode: SetSessionModeRequest['mode']) => Promise<boolean>;
}

/** A session's live conversation, and its actions. */
export function useConversation(id: string): OpenConversation {
  const [conversation, change] = useReducer(changeConversation, EMPTY_CONVERSATION);
  const [problem, setProblem] = useState<unknown>(null);
  const queries = useQueryClient();
  const isBusy = conversation.messages.some(isOpen);
  const { data: session } = useQuery({
    queryKey: ['session', id],
    queryFn: ({ signal }) => answerOf(api.GET('/v1/sessions/{id}', { ...byId(id), signal })),
    refetchInterval: isBusy ? POLL_MS : false,
  });
  // A refresh in flight is recent enough, because events arrive in bursts.
  const refresh = (): void => {
    for (const queryKey of [['session', id], ['sessions']]) void queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
  };
  const connection = useLiveEvents({
    url: `/v1/sessions/${encodeURIComponent(id)}/stream`,
    names: LIVE_EVENTS,
    onEvent: (name, data) => {
      const read = readLiveEvent(parseSessionEvent(name, data));
      if (read === null) return;
      change(read);
      if (read.kind !== 'output') refresh();
    },
  });
  const perform = async (action: () => Promise<unknown>): Promise<boolean> => {
    setProblem(null);
    try {
      await action();
      refresh();
      return true;
    } catch (error) {
      setProblem(error);
      return false;
    }
  };
  const { post, sendInTurn } = useSending(id, change);
  return {
    conversation,
    session,
    connection,
    problem,
    send: (message) => sendInTurn(message.text, () => perform(() => post(message))),
    sendAgain: (message) =>
      sendInTurn(message.text, () =>
        perform(async () => post({ text: message.text, agent: message.agent, files: await filesOf(message) })),
      ),
    stop: () => perform(() => answerOf(api.POST('/v1/sessions/{id}/stop', byId(id)))),
    setMode: (mode) => perform(() => answerOf(api.PUT('/v1/sessions/{id}/mode', { ...byId(id), body: { mode } }))),
  };
}

/** The files of an earlier message, which its task still has. */
async function filesOf({ id, attachments }: ChatMessage): Promise<SentFile[]> {
  if (attachments.length === 0) return [];
  const sizes = new Map(attachments.map(({ name, bytes }) => [name, bytes]));
  const given = givenFiles(await answerOf(api.GET('/v1/tasks/{id}', toTask({ id, tenant: null }))));
  return given.map((file) => ({ file, bytes: sizes.get(file.name) ?? null }));
}

interface Sending {
  /** Sends a message and adds the answer to the conversation. Throws when the message may not have been accepted. */
  post: (message: SentMessage) => Promise<void>;
  /** Sends after the messages before it, because the order of parallel requests is undefined. */
  sendInTurn: (text: string, send: () => Promise<boolean>) => Promise<boolean>;
}

function shownFile({ file: { name, mediaType }, bytes }: SentFile): MessageFile {
  return { name, mediaType, bytes };
}

/** The fields of a message that has just been sent. */
const UNKNOWN_YET = { error: null, answer: '', attempt: 0, starts: [], artifacts: [] } as const;

/** Sends messages to a session: each once, in the order of typing. */
function useSending(session: string, change: (change: ConversationChange) => void): Sending {
  const lines = useRef(0);
  const sendOnce = useSendOnce();
  const sending = useRef<Promise<unknown>>(Promise.resolve());
  return {
    post: async ({ text, agent, files }) => {
      const attachments = files.length === 0 ? {} : { attachments: files.map(({ file }) => file) };
      const message = { text, ...(agent === null ? {} : { agent }), ...attachments };
      const sent = await sendOnce(JSON.stringify(message), (key) =>
        answerOf(api.POST('/v1/sessions/{id}/messages', { ...byId(session), body: message, headers: { 'Idempotency-Key': key } })),
      );
      if ('command' in sent) {
        lines.current += 1;
        change({ kind: 'line', id: `line-${lines.current}`, text: sent.text });
        return;
      }
      const { id, status, outcome } = sent;
      change({
        kind: 'sent',
        message: { ...UNKNOWN_YET, id, text, agent, status: status ?? 'pending', outcome, attachments: files.map(shownFile) },
      });
    },
    sendInTurn: (text, send) => {
      // A command does not wait, because it may have to stop a message that hangs.
      if (text.startsWith('/')) return send();
      const sent = sending.current.then(send);
      sending.current = sent;
      return sent;
    },
  };
}
