import { isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import type { Outcome } from '../api/records.ts';

/** A message of a person, with its answer. */
export interface ChatMessage {
  /** Its task's id; ids sort in the order in which they were accepted. */
  id: string;
  text: string;
  /** Null until the agent is known. */
  agent: string | null;
  status: TaskStatus;
  outcome: Outcome | null;
  /** The reason of a failure. */
  error: string | null;
  /** What is written so far. */
  answer: string;
  /** The attempt that wrote the answer, and the number of its last piece. */
  attempt: number;
  seq: number;
}

/** The answer of a command. */
export interface SystemLine {
  id: string;
  /** The message before it; null at the beginning. */
  after: string | null;
  text: string;
}

export interface Conversation {
  messages: readonly ChatMessage[];
  lines: readonly SystemLine[];
  /** Whether the history is loaded. */
  isLoaded: boolean;
}

interface OutputPiece {
  taskId: string;
  attempt: number;
  /** 1 for the first of a run. */
  seq: number;
  text: string;
}

interface StatusChange {
  taskId: string;
  status: TaskStatus;
  outcome: Outcome | null;
  answer: string | null;
  error: string | null;
}

export type ConversationChange =
  | { kind: 'history'; messages: readonly ChatMessage[] }
  /** From the answer to the request, which may arrive after the event of the stream. */
  | { kind: 'sent'; message: ChatMessage }
  | { kind: 'message'; message: ChatMessage }
  | { kind: 'output'; piece: OutputPiece }
  | ({ kind: 'status' } & StatusChange)
  | { kind: 'line'; id: string; text: string };

export const EMPTY_CONVERSATION: Conversation = { messages: [], lines: [], isLoaded: false };

/** Applies a change. A known change has no effect, because streams repeat events after a cut. */
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

/** Whether an answer to this message may still come or go on. */
export function isOpen({ status }: ChatMessage): boolean {
  return !isTerminal(status);
}

/** An ended message does not change; an open one keeps its answer. */
function withMessage(messages: readonly ChatMessage[], message: ChatMessage): readonly ChatMessage[] {
  const known = messages.find(({ id }) => id === message.id);
  if (!known) return [...messages, message].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (!isOpen(known)) return messages;
  const { answer, attempt, seq } = known;
  const next = isOpen(message) || message.answer === '' ? { ...message, answer, attempt, seq } : message;
  return messages.map((each) => (each === known ? next : each));
}

function withOutput(message: ChatMessage, { taskId, attempt, seq, text }: OutputPiece): ChatMessage {
  if (message.id !== taskId || attempt < message.attempt) return message;
  // A run that starts again, or is repeated from its beginning, starts with its first piece.
  if (attempt > message.attempt || seq <= 1) return { ...message, attempt, seq, answer: text };
  return seq <= message.seq ? message : { ...message, seq, answer: message.answer + text };
}

function withStatus(message: ChatMessage, { taskId, status, outcome, answer, error }: StatusChange): ChatMessage {
  if (message.id !== taskId) return message;
  return {
    ...message,
    status,
    outcome: outcome ?? message.outcome,
    answer: answer ?? message.answer,
    error: error ?? message.error,
  };
}
