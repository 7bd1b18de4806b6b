import { z } from 'zod';
import { isTerminal, type TaskStatus } from '#shared/tasks/transitions.ts';
import { addPiece } from '#shared/tasks/written-text.ts';
import { outcomeSchema, taskStatusSchema, type Outcome } from '../../api/records.ts';

/** A file of a message or of its answer. */
export interface MessageFile {
  readonly name: string;
  readonly mediaType: string;
  /** Null for one that is fetched from an address. */
  readonly bytes: number | null;
}

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

interface OutputPiece {
  taskId: string;
  attempt: number;
  /** 1 for the first piece of a run. */
  seq: number;
  text: string;
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
  | { kind: 'output'; piece: OutputPiece }
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

function withOutput(message: ChatMessage, { taskId, attempt, seq, text }: OutputPiece): ChatMessage {
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

const errorSchema = z.object({ code: z.string(), message: z.string() });

const filesSchema = z.array(z.object({ name: z.string(), mediaType: z.string(), bytes: z.number().nullable() })).nullish();

const messageSchema = z
  .object({
    taskId: z.string(),
    text: z.string(),
    agent: z.string(),
    status: taskStatusSchema,
    outcome: outcomeSchema.nullish(),
    output: z.string().nullish(),
    error: errorSchema.nullish(),
    attachments: filesSchema,
    artifacts: filesSchema,
  })
  .transform(({ taskId, text, agent, status, outcome, output, error, attachments, artifacts }): ChatMessage => ({
    id: taskId,
    text,
    agent,
    status,
    outcome: outcome ?? null,
    error: error?.message ?? null,
    answer: output ?? '',
    attempt: 0,
    starts: [],
    attachments: attachments ?? [],
    artifacts: artifacts ?? [],
  }));
const historySchema = z.object({ items: z.array(messageSchema) }).transform(({ items }) => ({ kind: 'history' as const, messages: items }));
const arrivalSchema = messageSchema.transform((message) => ({ kind: 'message' as const, message }));
const outputSchema = z
  .object({ taskId: z.string(), attempt: z.number(), seq: z.number(), text: z.string() })
  .transform((piece) => ({ kind: 'output' as const, piece }));
const statusSchema = z
  .object({
    taskId: z.string(),
    status: taskStatusSchema,
    outcome: outcomeSchema.nullish(),
    output: z.string().nullish(),
    error: errorSchema.nullish(),
    artifacts: filesSchema,
  })
  .transform(({ taskId, status, outcome, output, error, artifacts }) => ({
    kind: 'status' as const,
    taskId,
    status,
    outcome: outcome ?? null,
    answer: output ?? null,
    error: error?.message ?? null,
    artifacts: artifacts ?? null,
  }));

const SCHEMAS: Readonly<Record<string, z.ZodType<ConversationChange>>> = {
  history: historySchema,
  message: arrivalSchema,
  output: outputSchema,
  status: statusSchema,
  end: statusSchema,
} satisfies Record<(typeof LIVE_EVENTS)[number], z.ZodType<ConversationChange>>;

/** Parses an event of a session's stream into a change; null for an unknown or malformed event. */
export function readLiveEvent(name: string, data: unknown): ConversationChange | null {
  return SCHEMAS[name]?.safeParse(data).data ?? null;
}
