import { z } from 'zod';
import { type Ledger, readEntry } from '#shared/ledger/index.ts';
import type { ModelRequest } from '#shared/tasks/index.ts';
import { callerWaitOf } from '#shared/waits/index.ts';
import type { ConversationStore } from '../conversations/conversation-store.ts';
import { callId, callOf, responseOf, responseOfMessage } from '../ids.ts';
import { readAnswer, type RunAnswer } from '../output/run-answer.ts';
import { lookForResponse } from '../responses/find-response.ts';
import { inputItems } from '../responses/input-items.ts';
import type { AskedTask } from './accept-request.ts';
import { metadataSchema, modelSchema, tokensSchema } from './chat-request.ts';
import { composeConversation, type GivenMessage } from './conversation.ts';
import { given } from './given.ts';
import { matchCallsOfInput } from './match-calls.ts';
import { contentSchema, readContent, wrong } from './read-content.ts';
import { formatSchema, readFormat } from './read-format.ts';
import { functionSchema, readTools, TOOL_CHOICES, toolsSchema } from './read-tools.ts';

const id = z.string().min(1).max(200);

const messageSchema = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: contentSchema,
});
const otherSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('function_call'), call_id: id, name: id, arguments: z.string() }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: id, output: contentSchema }),
  z.looseObject({ type: z.literal('item_reference'), id }),
  // What a model thought is its own.
  z.looseObject({ type: z.literal('reasoning') }),
]);
const itemSchema = z.union([messageSchema, otherSchema]);
type Message = z.infer<typeof messageSchema>;
type Other = z.infer<typeof otherSchema>;
type Item = Message | Other;

const MAX_ITEMS = 10_000;

export const itemsSchema = z.array(itemSchema).max(MAX_ITEMS);

/** What a response is requested with. What only tunes a model is taken and has no effect: an agent says that itself. */
export const responseSchema = z.looseObject({
  model: modelSchema,
  input: z.union([z.string(), itemsSchema.min(1)]),
  instructions: z.string().nullable().optional(),
  background: z.boolean().nullable().optional(),
  stream: z.boolean().nullable().optional(),
  store: z.boolean().nullable().optional(),
  metadata: metadataSchema.nullable().optional(),
  max_output_tokens: tokensSchema.nullable().optional(),
  previous_response_id: id.nullable().optional(),
  conversation: z
    .union([id, z.looseObject({ id })])
    .nullable()
    .optional(),
  text: z.looseObject({ format: formatSchema }).nullable().optional(),
  prompt: z.unknown().optional(),
  tools: toolsSchema(functionSchema.extend({ type: z.literal('function') })),
  tool_choice: z
    .union([z.enum(TOOL_CHOICES), z.looseObject({ type: z.literal('function'), name: z.string() })])
    .nullable()
    .optional(),
});
export type ResponseBody = z.infer<typeof responseSchema>;

/** The task of a response. Errors: `request.invalid`, `task.not-found` for a conversation that there is not. */
export async function readResponse(ports: ReadPorts, tenant: string, body: ResponseBody): Promise<AskedTask> {
  refuseUnserved(body);
  refuseContradictions(body);
  const { ledger } = ports;
  const previous = await findPrevious(ledger, tenant, body.previous_response_id ?? null);
  const named = typeof body.conversation === 'string' ? body.conversation : body.conversation?.id;
  const added = await readAdded(ports, tenant, named);
  const said = [...added, ...(await readItems(ledger, tenant, itemsIn(body.input)))];
  const { before, after, ...conversation } = composeConversation([{ role: 'system', text: body.instructions ?? '' }, ...said]);
  if (previous && conversation.outputs.length === 0) refuseUnanswered(previous);
  return {
    ...conversation,
    model: body.model,
    param: 'input',
    matchCalls: () => {
      // What came before may have the other half.
      if (!body.previous_response_id && named === undefined) matchCallsOfInput(said);
    },
    isAwaited: body.background !== true,
    ...(named === undefined ? sessionOf(body, previous) : { sessionOf: () => named }),
    ...given({ metadata: body.metadata }),
    request: {
      ...requestOf(body),
      ...given({
        before,
        after,
        previous: previous && { task: previous.task.body.id, part: previous.part },
        conversation: named,
        carried: added.filter(({ role }) => role !== 'system').length || null,
      }),
    },
  };
}

function itemsIn(input: ResponseBody['input']): Item[] {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input;
}

function requestOf(body: ResponseBody): ModelRequest {
  const choice = body.tool_choice ?? 'auto';
  return {
    kind: 'response',
    ...given({
      maxOutputTokens: body.max_output_tokens,
      instructions: body.instructions || null,
      format: readFormat(body.text?.format, 'text.format'),
      isBackground: body.background === true,
      isHidden: body.store === false,
    }),
    ...readTools(body.tools ?? [], choice),
  };
}

/** A run that waits goes on with what functions gave, and with nothing else. Errors: `request.invalid`. */
function refuseUnanswered({ task, calls: [call] }: RunAnswer): void {
  if (call && task.state.gate === 'caller') throw wrong('input', `No tool output found for function call ${call.id}`);
}

export interface ReadPorts {
  readonly ledger: Ledger;
  readonly conversations: ConversationStore;
}

/** What was added to a conversation since its last turn. Errors: `task.not-found`. */
async function readAdded({ ledger, conversations }: ReadPorts, tenant: string, conversation: string | undefined): Promise<GivenMessage[]> {
  if (conversation === undefined) return [];
  return await readItems(ledger, tenant, z.array(itemSchema).parse(await conversations.newItems(tenant, conversation)));
}

/** Responses that lead to each other are turns of one session, in their order. One that is to be found by nobody leads to none. */
function sessionOf({ store }: ResponseBody, previous: RunAnswer | null): Pick<AskedTask, 'sessionOf'> {
  const session = previous?.task.body.session;
  if (typeof session === 'string') return { sessionOf: () => session };
  return store === false ? {} : { sessionOf: (task) => `resp_${task}` };
}

/** What changes the form of the answer, and would be missed. */
function refuseUnserved({ prompt }: ResponseBody): void {
  if (prompt ?? false) throw wrong('prompt', 'expected none: prompts that are kept elsewhere are not served here');
}

function refuseContradictions({ background, store, ...body }: ResponseBody): void {
  if (background === true && store === false) throw wrong('store', 'expected true with "background": nobody could read the response');
  if (body.previous_response_id && body.conversation) throw wrong('previous_response_id', 'expected either it or "conversation"');
}

/** Errors: `request.invalid` for a response that there is not. */
async function findPrevious(ledger: Ledger, tenant: string, named: string | null): Promise<RunAnswer | null> {
  if (named === null) return null;
  const found = await lookForResponse(ledger, tenant, responseOf(named));
  if (!found) throw wrong('previous_response_id', `there is no response "${named.slice(0, 100)}"`);
  return found;
}

/** The messages of an input. Errors: `request.invalid`. */
async function readItems(ledger: Ledger, tenant: string, items: readonly Item[]): Promise<GivenMessage[]> {
  const messages: GivenMessage[] = [];
  for (const [at, item] of items.entries()) {
    const param = `input[${at}]`;
    const message = isMessage(item) ? readMessage(item, param) : await readOther(ledger, tenant, item, param);
    if (message) add(messages, message);
  }
  return messages;
}

/** A call belongs to the answer before it. */
function add(messages: GivenMessage[], message: GivenMessage): void {
  const last = messages.at(-1);
  if (message.role !== 'assistant' || message.text !== '' || last?.role !== 'assistant') {
    messages.push(message);
    return;
  }
  messages[messages.length - 1] = { ...last, calls: [...(last.calls ?? []), ...(message.calls ?? [])] };
}

function isMessage(item: Item): item is Message {
  return item.type === undefined || item.type === 'message';
}

function readMessage({ role, content }: Message, param: string): GivenMessage {
  const { text, files } = readContent(content, `${param}.content`);
  if (role === 'user') return { role, text, files };
  return role === 'assistant' ? { role, text } : { role: 'system', text };
}

async function readOther(ledger: Ledger, tenant: string, item: Other, param: string): Promise<GivenMessage | null> {
  switch (item.type) {
    case 'reasoning':
      return null;
    case 'function_call':
      return { role: 'assistant', text: '', calls: [{ id: item.call_id, name: item.name, arguments: item.arguments }] };
    case 'function_call_output':
      return { role: 'tool', callId: item.call_id, text: readContent(item.output, `${param}.output`).text };
    case 'item_reference':
      return await readReference(ledger, tenant, item.id, param);
  }
}

/** What a response said before. Errors: `request.invalid`. */
async function readReference(ledger: Ledger, tenant: string, named: string, param: string): Promise<GivenMessage> {
  const message =
    (await readSaid(ledger, tenant, named)) ?? (await readCall(ledger, tenant, named)) ?? (await readInput(ledger, tenant, named));
  if (!message) throw wrong(param, `there is no item "${named.slice(0, 100)}"`);
  return message;
}

async function readSaid(ledger: Ledger, tenant: string, named: string): Promise<GivenMessage | null> {
  const place = responseOfMessage(named);
  const answer = place && place.part > 0 ? await readAnswer(ledger, { tenant, id: place.task, part: place.part }) : null;
  return answer && { role: 'assistant', text: answer.text };
}

async function readCall(ledger: Ledger, tenant: string, named: string): Promise<GivenMessage | null> {
  const place = callOf(named);
  const wait = place && callerWaitOf(await readEntry(ledger, { tenant, id: place.task }, place.seq));
  const call = place && wait?.calls[place.place];
  return call ? { role: 'assistant', text: '', calls: [{ ...call, id: callId(place) }] } : null;
}

async function readInput(ledger: Ledger, tenant: string, named: string): Promise<GivenMessage | null> {
  const place = responseOfMessage(named);
  const answer = place && (await readAnswer(ledger, { tenant, id: place.task, part: 1 }));
  const [item] = z.array(itemSchema).parse(answer ? inputItems(answer).filter((each) => each.id === named) : []);
  return item && isMessage(item) ? readMessage(item, named) : null;
}
