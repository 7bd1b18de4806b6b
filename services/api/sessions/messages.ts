import { z } from 'zod';
import { agentIdSchema, QUEUE_MODES } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Answer, type Call, type Route } from '#shared/http/index.ts';
import { idempotencyOf } from '#shared/queue/index.ts';
import { handleMessage, type IncomingMessage, type MessageAnswer, type MessageParts } from '#shared/sessions/index.ts';
import { scheduleCommands, type ScheduleParts } from '#shared/schedules/index.ts';
import { jsonObjectSchema, taskRequestSchema } from '#shared/tasks/index.ts';
import { hasScope } from '#shared/tenants/index.ts';
import { answererOf } from '#shared/waits/index.ts';
import { claimOf, idempotencyHeadersSchema, keyOf, SUBMIT_ERRORS } from '../tasks/submit-task.ts';
import { keptStatusSchema, outcomeSchema } from '../tasks/task-view.ts';
import { sessionPathSchema } from './sessions.ts';

const shortText = z.string().min(1).max(200);

const messageSchema = z.strictObject({
  text: z.string().min(1).meta({ description: 'What the person wrote; commands like `/stop` are applied.' }),
  agent: agentIdSchema.optional().meta({ description: 'By default chosen by `routing`.' }),
  surface: shortText.optional().meta({ description: 'Where it was written, `webchat` by default; chooses the mode.' }),
  mode: z
    .enum([...QUEUE_MODES, 'default'])
    .optional()
    .meta({ description: 'Mode of this message when it meets a running task.' }),
  user: shortText.optional().meta({ description: 'Who wrote it.' }),
  sequence: z
    .number()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({ description: 'Orders the messages of the session; by default they are ordered by arrival.' }),
  context: jsonObjectSchema.optional(),
  attachments: taskRequestSchema.shape.attachments,
});
type Message = z.infer<typeof messageSchema>;

const acceptedMessageSchema = z
  .strictObject({
    id: z.string(),
    status: keptStatusSchema,
    position: z.int().meta({ description: 'How many tasks are before it in the session.' }),
    outcome: outcomeSchema.nullable().meta({ description: 'What became of it, when that is final already.' }),
  })
  .meta({ id: 'AcceptedMessage' });

const commandSchema = z
  .strictObject({ command: z.string(), text: z.string() })
  .meta({ id: 'CommandAnswer', description: 'The message was a command; `text` is its answer for the person.' });

/** The fields that a visitor may send; the tenant chooses the agent, the surface and the user. */
const VISITOR_FIELDS = new Set(['text', 'mode', 'sequence', 'attachments']);

/** `POST /v1/sessions/:id/messages`. */
export function postMessage(parts: MessageParts, scheduling: ScheduleParts): Route {
  const commands = { ...scheduleCommands(scheduling), ...parts.commands };
  return route({
    method: 'post',
    path: '/v1/sessions/:id/messages',
    operationId: 'sendMessage',
    summary: 'Send a message into a session',
    description:
      'It becomes a task of the session. Its mode decides what happens when it meets a running task: `mode` here or `/queue <mode>` in the text, else the mode of the session, of the surface, or the default. A command is applied at once and answered with 200. With an `Idempotency-Key` the request can be repeated.',
    scope: 'submit',
    errors: [...SUBMIT_ERRORS, 'schedule.unreadable', 'schedule.unknown-zone', 'schedule.platform-off'],
    audit: 'work',
    forVisitors: true,
    request: {
      params: sessionPathSchema,
      headers: idempotencyHeadersSchema,
      body: messageSchema.meta({ id: 'MessageRequest', examples: [{ text: 'What is new?' }] }),
    },
    responses: {
      200: z
        .union([commandSchema, acceptedMessageSchema])
        .meta({ id: 'CommandOrAccepted', description: 'A command, or the key came before.' }),
      202: acceptedMessageSchema.meta({ description: 'Accepted: it will reach its one outcome.' }),
    },
    handle: async ({ params, headers, body }, call) => {
      const visitor = call.key?.session === undefined ? null : call.key;
      if (visitor !== null) assertVisitorFields(body);
      // Visitors have only the commands of the session itself.
      const answer = await handleMessage(
        { ...parts, commands: visitor === null ? commands : {} },
        {
          ...messageFields(body),
          ...(visitor === null ? {} : { user: visitor.name, visitor: visitor.id }),
          ...claimOf(call),
          ...answererIn(call),
          tenant: call.tenant,
          session: params.id,
          traceparent: call.traceparent,
          ...keyOf(call),
          ...idempotencyOf(headers['idempotency-key'], call.key?.session),
        },
      );
      return answerOf(answer);
    },
  });
}

/** Who sends the message, to a question of the session: a visitor, or a key that may answer. */
function answererIn({ key }: Call): Pick<IncomingMessage, 'answerer'> {
  return key !== null && (key.session !== undefined || hasScope(key.scopes, 'answer')) ? { answerer: answererOf(key) } : {};
}

function assertVisitorFields(body: Message): void {
  const refused = Object.keys(body).filter((name) => !VISITOR_FIELDS.has(name));
  // An address would be fetched in their stead.
  if (body.attachments?.some(({ url }) => url !== undefined) === true) refused.push('attachments by url');
  if (refused.length === 0) return;
  throw new MusterError('auth.forbidden', `A visitor sends ${[...VISITOR_FIELDS].join(', ')}; not ${refused.join(', ')}`);
}

function messageFields({
  text,
  agent,
  surface,
  mode,
  user,
  sequence,
  context,
  attachments,
}: Message): Omit<IncomingMessage, 'tenant' | 'session'> {
  return {
    text,
    ...(agent === undefined ? {} : { agent }),
    ...(surface === undefined ? {} : { surface }),
    ...(mode === undefined ? {} : { mode }),
    ...(user === undefined ? {} : { user }),
    ...(sequence === undefined ? {} : { sequence }),
    ...(context === undefined ? {} : { context }),
    ...(attachments === undefined ? {} : { attachments }),
  };
}

function answerOf(answer: MessageAnswer): Answer {
  if (answer.kind === 'command') return { status: 200, body: { command: answer.command, text: answer.text } };
  const { id, status, position, outcome, isDuplicate } = answer.accepted;
  return { status: isDuplicate ? 200 : 202, body: { id, status, position, outcome }, headers: { Location: `/v1/tasks/${id}` } };
}
