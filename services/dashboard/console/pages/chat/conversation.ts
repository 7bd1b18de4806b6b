import type { EndedTurn, MessageEvent, Outcome, SessionOutputEvent, SessionStreamEvent, TurnFile } from '#shared/client/openapi.gen.ts';
import { isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import { addPiece } from '#shared/tasks/written-text.ts';

/** A file of a message or of its answer. */
export type MessageFile = Readonly<TurnFile>;

/** A person's message with its answer. */
export interface ChatMessage {
  /** The id of its task; ids sort in the order of acceptance. */
  id: string;
  text: string;
  /** Null until the agent is known. */
  agent: string | null;
  status: TaskStatus;
  outcome: Outcome | null;
  /** The reason of a failure. */
  error: string | null;
  /** The text written so far. */
  answer: string;
  /** The attempt that wrote the answer, and where each piece of its output begins. */
  attempt: number;
  starts: readonly number[];
  /** The files that the person sent. */
  attachments: readonly MessageFile[];
  /** The files that the agent made; known when the task has ended. */
  artifacts: readonly MessageFile[];
}

/** The answer of a command. */
export interface SystemLine {
  id: string;
  /** The id of the message before it; null at the beginning. */
  after: string | null;
  text: string;
}

export interface Conversation {
  messages: readonly ChatMessage[];
  lines: readonly SystemLine[];
  /** Whether the history is loaded. */
  isLoaded: boolean;
}

interface StatusChange {
  taskId: string;
  status: TaskStatus;
  outcome: Outcome | null;
  answer: string | null;
  error: string | null;
  /** Null until the end. */
  artifacts: readonly MessageFile[] | null;
}

export type ConversationChange =
  | { kind: 'history'; messages: readonly ChatMessage[] }
  /** From the answer to the request, which may arrive after the event of the stream. */
  | { kind: 'sent'; message: ChatMessage }
  | { kind: 'message'; message: ChatMessage }
  | { kind: 'output'; piece: SessionOutputEvent }
  | ({ kind: 'status' } & StatusChange)
  | { kind: 'line'; id: string; text: string };

export const EMPTY_CONVERSATION: Conversation = { messages: [], lines: [], isLoaded: false };

/** Applies a change. A known change has no effect, because streams repeat events after a reconnection. */
export function changeConversation(conversation: Conversation, change: ConversationChange): Conversation {
  const { messages, lines } = conversation;
  switch (change.kind) {
    case 'history':
      return { ...conversation, messages: change.messages.reduce(withMessage, messages), isLoaded: true };
    case 'sent':
      return messages.some(({ id }) => id === change.message.id)
        ? conversation
        : { ...conversation, messages: withMessage(messages, change.message) };
    case 'message':
      return { ...conversation, messages: withMessage(messages, change.message) };
    case 'output':
      return { ...conversation, messages: messages.map((message) => withOutput(message, change.piece)) };
    case 'status':
      return { ...conversation, messages: messages.map((message) => withStatus(message, change)) };
    case 'line':
      return { ...conversation, lines: [...lines, { id: change.id, text: change.text, after: messages.at(-1)?.id ?? null }] };
  }
}

/** Whether the message may still get an answer or more of it. */
export function isOpen({ status }: ChatMessage): boolean {
  return !isTerminal(status);
}

/** Adds or updates a message. An ended message does not change; an open message keeps its answer. */
function withMessage(messages: readonly ChatMessage[], message: ChatMessage): readonly ChatMessage[] {
  const known = messages.find(({ id }) => id === message.id);
  if (!known) return [...messages, message].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (!isOpen(known)) return messages;
  const { answer, attempt, starts } = known;
  const next = isOpen(message) || message.answer === '' ? { ...message, answer, attempt, starts } : message;
  return messages.map((each) => (each === known ? next : each));
}

function withOutput(message: ChatMessage, { taskId, attempt, seq, text }: SessionOutputEvent): ChatMessage {
  if (message.id !== taskId || attempt < message.attempt) return message;
  const { text: answer, starts } = addPiece({ text: message.answer, starts: message.starts }, { seq, text });
  return { ...message, attempt, starts, answer };
}

function withStatus(message: ChatMessage, { taskId, status, outcome, answer, error, artifacts }: StatusChange): ChatMessage {
  if (message.id !== taskId) return message;
  return {
    ...message,
    status,
    outcome: outcome ?? message.outcome,
    answer: answer ?? message.answer,
    error: error ?? message.error,
    artifacts: artifacts ?? message.artifacts,
  };
}

/** The names of the events in a session's stream. */
export const LIVE_EVENTS = ['history', 'message', 'output', 'status', 'end'] as const;

function messageOf(turn: MessageEvent | EndedTurn): ChatMessage {
  const { outcome = null, error = null, output = null, artifacts = [] } = turn as Partial<EndedTurn>;
  const { taskId, text, agent, status, attachments } = turn;
  const { message = null } = error ?? {};
  return { id: taskId, text, agent, status, outcome, error: message, answer: output ?? '', attempt: 0, starts: [], attachments, artifacts };
}

/** What an event of a session's stream changes; null for an event that this page does not know. */
export function readLiveEvent(event: SessionStreamEvent): ConversationChange | null {
  switch (event.event) {
    case 'history':
      return { kind: 'history', messages: event.data.items.map(messageOf) };
    case 'message':
      return { kind: 'message', message: messageOf(event.data) };
    case 'output':
      return { kind: 'output', piece: event.data };
    case 'status':
      return { kind: 'status', ...event.data, answer: null, error: null, artifacts: null };
    case 'end': {
      const { output, error, ...rest } = event.data;
      return { kind: 'status', ...rest, answer: output, error: error?.message ?? null };
    }
    // The page reads questions by themselves.
    case 'question':
    default:
      return null;
  }
}
