import { z } from 'zod';
import { outcomeSchema, taskStatusSchema } from '../api/records.ts';
import type { ChatMessage, ConversationChange } from './conversation.ts';

/** The events of a session's stream. */
export const LIVE_EVENTS = ['history', 'message', 'output', 'status', 'end'] as const;

const errorSchema = z.object({ code: z.string(), message: z.string() });

const messageSchema = z
  .object({
    taskId: z.string(),
    text: z.string(),
    agent: z.string(),
    status: taskStatusSchema,
    outcome: outcomeSchema.nullish(),
    output: z.string().nullish(),
    error: errorSchema.nullish(),
  })
  .transform(({ taskId, text, agent, status, outcome, output, error }): ChatMessage => ({
    id: taskId,
    text,
    agent,
    status,
    outcome: outcome ?? null,
    error: error?.message ?? null,
    answer: output ?? '',
    attempt: 0,
    seq: 0,
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
  })
  .transform(({ taskId, status, outcome, output, error }) => ({
    kind: 'status' as const,
    taskId,
    status,
    outcome: outcome ?? null,
    answer: output ?? null,
    error: error?.message ?? null,
  }));

const SCHEMAS: Readonly<Record<string, z.ZodType<ConversationChange>>> = {
  history: historySchema,
  message: arrivalSchema,
  output: outputSchema,
  status: statusSchema,
  end: statusSchema,
} satisfies Record<(typeof LIVE_EVENTS)[number], z.ZodType<ConversationChange>>;

/** What an event of a session's stream changes; null for one that this page does not understand. */
export function readLiveEvent(name: string, data: unknown): ConversationChange | null {
  return SCHEMAS[name]?.safeParse(data).data ?? null;
}
