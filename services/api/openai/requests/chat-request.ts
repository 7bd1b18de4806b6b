import { z } from 'zod';
import type { AskedTask } from './accept-request.ts';
import { composeConversation, type GivenMessage } from './conversation.ts';
import { given } from './given.ts';
import { matchCallsOfChat } from './match-calls.ts';
import { contentSchema, readContent, wrong } from './read-content.ts';
import { formatSchema, readFormat } from './read-format.ts';
import { functionSchema, readTools, TOOL_CHOICES, toolsSchema } from './read-tools.ts';

const content = contentSchema.nullable().optional();
const callSchema = z.looseObject({
  id: z.string().min(1).max(200),
  function: z.looseObject({ name: z.string().min(1).max(200), arguments: z.string() }),
});

const messageSchema = z.discriminatedUnion('role', [
  z.looseObject({ role: z.enum(['system', 'developer', 'user']), content: contentSchema }),
  z.looseObject({ role: z.literal('assistant'), content, tool_calls: z.array(callSchema).max(200).nullable().optional() }),
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: z.string().min(1).max(200) }),
]);

const MAX_MESSAGES = 10_000;
const MAX_MODEL = 200;

export const modelSchema = z.string().min(1).max(MAX_MODEL);
export const tokensSchema = z.int().min(1);
/** As OpenAI bounds it; a task keeps it as its metadata. */
export const metadataSchema = z.record(z.string().max(64), z.string().max(512));

/** What a chat completion is asked for with. What only tunes a model is taken and has no effect: an agent says that itself. */
export const chatSchema = z.looseObject({
  model: modelSchema,
  messages: z.array(messageSchema).min(1).max(MAX_MESSAGES),
  stream: z.boolean().nullable().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullable().optional(),
  max_tokens: tokensSchema.nullable().optional(),
  max_completion_tokens: tokensSchema.nullable().optional(),
  metadata: metadataSchema.nullable().optional(),
  n: z.int().nullable().optional(),
  tools: toolsSchema(z.looseObject({ type: z.literal('function'), function: functionSchema })),
  tool_choice: z
    .union([z.enum(TOOL_CHOICES), z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) })])
    .nullable()
    .optional(),
  response_format: formatSchema,
});
export type ChatBody = z.infer<typeof chatSchema>;

/** The task of a chat completion. Errors: `request.invalid`. */
export function readChat(body: ChatBody): AskedTask {
  refuseUnserved(body);
  const messages = body.messages.map(readMessage);
  const { before, after, ...conversation } = composeConversation(messages);
  const bounds = [body.max_tokens, body.max_completion_tokens].filter((bound) => typeof bound === 'number');
  const tools = (body.tools ?? []).map(({ function: described }) => described);
  const format = readFormat(body.response_format, 'response_format');
  const choice = body.tool_choice ?? 'auto';
  const named = typeof choice === 'string' ? choice : { name: choice.function.name };
  return {
    ...conversation,
    model: body.model,
    param: 'messages',
    matchCalls: () => matchCallsOfChat(messages),
    isAwaited: true,
    ...given({ metadata: body.metadata }),
    request: {
      kind: 'completion',
      ...given({ before, after, maxOutputTokens: bounds.length > 0 && Math.min(...bounds), format }),
      ...readTools(tools, named),
    },
  };
}

/** What changes the form of the answer, and would be missed. */
function refuseUnserved({ n }: ChatBody): void {
  if (typeof n === 'number' && n !== 1) throw wrong('n', 'expected 1: an agent gives one answer');
}

function readMessage(message: z.infer<typeof messageSchema>, at: number): GivenMessage {
  const { text, files } = readContent(message.content, `messages[${at}].content`);
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text };
    case 'user':
      return { role: 'user', text, files };
    case 'tool':
      return { role: 'tool', callId: message.tool_call_id, text };
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: json } }) => ({ id, name, arguments: json }));
      return { role: 'assistant', text, ...(calls.length > 0 && { calls }) };
    }
  }
}
