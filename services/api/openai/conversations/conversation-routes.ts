import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import { newTaskId } from '#shared/tasks/index.ts';
import { listQuerySchema, pageOf } from '../lists.ts';
import { metadataSchema } from '../requests/chat-request.ts';
import { maxRequestBytes } from '../requests/max-bytes.ts';
import { wrong } from '../requests/read-content.ts';
import { itemsSchema } from '../requests/response-request.ts';
import { findConversationItem, listConversationItems } from './conversation-items.ts';
import type { ConversationRecord, ConversationStore, StoredItem } from './conversation-store.ts';

export interface ConversationPorts {
  readonly ledger: Ledger;
  readonly conversations: ConversationStore;
  readonly config: { readonly settings: Settings };
}

const path = '/openai/v1/conversations/:conversation';
const noQuery = z.looseObject({});
const params = z.object({ conversation: z.string() });
const itemParams = params.extend({ item: z.string() });
/** As OpenAI bounds it. */
const MAX_ADDED = 20;
const addedSchema = itemsSchema.max(MAX_ADDED);
const answers = { 200: z.unknown() };

/** `/openai/v1/conversations`: sessions by the names that their clients know. */
export function conversationRoutes(ports: ConversationPorts): Route[] {
  return [
    createConversation(ports),
    getConversation(ports),
    changeConversation(ports),
    deleteConversation(ports),
    listItems(ports),
    addItems(ports),
    getItem(ports),
    deleteItem(ports),
  ];
}

const createSchema = z.looseObject({ metadata: metadataSchema.nullable().optional(), items: addedSchema.nullable().optional() });

function createConversation({ conversations, config }: ConversationPorts): Route {
  return route({
    method: 'post',
    path: '/openai/v1/conversations',
    operationId: 'createConversation',
    summary: 'Begin a conversation',
    scope: 'submit',
    audit: 'work',
    maxBodyBytes: maxRequestBytes(config.settings),
    request: { body: createSchema.optional(), query: noQuery },
    responses: answers,
    handle: async ({ body: asked }, { tenant }) => {
      const made = await conversations.create(tenant, asked?.metadata ?? {});
      await conversations.add(tenant, made.id, (asked?.items ?? []).map(storedItem));
      return { status: 200, body: view(made) };
    },
  });
}

function getConversation({ conversations }: ConversationPorts): Route {
  return route({
    method: 'get',
    path,
    operationId: 'getConversation',
    summary: 'Read a conversation',
    scope: 'read',
    request: { params, query: noQuery },
    responses: answers,
    handle: async (input, { tenant }) => ({ status: 200, body: view(await conversations.find(tenant, input.params.conversation)) }),
  });
}

function changeConversation({ conversations }: ConversationPorts): Route {
  return route({
    method: 'post',
    path,
    operationId: 'changeConversation',
    summary: 'Change the metadata of a conversation',
    scope: 'submit',
    audit: 'work',
    request: { params, query: noQuery, body: z.looseObject({ metadata: metadataSchema }) },
    responses: answers,
    handle: async (input, { tenant }) => {
      const changed = { ...(await conversations.find(tenant, input.params.conversation)), metadata: input.body.metadata };
      await conversations.write(tenant, changed);
      return { status: 200, body: view(changed) };
    },
  });
}

function deleteConversation({ conversations }: ConversationPorts): Route {
  return route({
    method: 'delete',
    path,
    operationId: 'deleteConversation',
    summary: 'Forget a conversation; its responses stay',
    scope: 'submit',
    request: { params, query: noQuery },
    responses: answers,
    handle: async (input, { tenant }) => {
      const { id } = await conversations.find(tenant, input.params.conversation);
      await conversations.remove(tenant, id);
      return { status: 200, body: { id, object: 'conversation.deleted', deleted: true } };
    },
  });
}

function listItems(ports: ConversationPorts): Route {
  return route({
    method: 'get',
    path: `${path}/items`,
    operationId: 'listConversationItems',
    summary: 'The items of a conversation',
    scope: 'read',
    request: { params, query: listQuerySchema },
    responses: answers,
    handle: async ({ params: { conversation: id }, query }, { tenant }) => {
      await ports.conversations.find(tenant, id);
      return { status: 200, body: await listConversationItems(ports, { tenant, id }, query) };
    },
  });
}

function addItems({ conversations, config }: ConversationPorts): Route {
  return route({
    method: 'post',
    path: `${path}/items`,
    operationId: 'addConversationItems',
    summary: 'Add items to a conversation',
    scope: 'submit',
    audit: 'work',
    maxBodyBytes: maxRequestBytes(config.settings),
    request: { params, query: noQuery, body: z.looseObject({ items: addedSchema }) },
    responses: answers,
    handle: async ({ params: { conversation: id }, body }, { tenant }) => {
      await conversations.find(tenant, id);
      const items = body.items.map(storedItem);
      await conversations.add(tenant, id, items);
      return { status: 200, body: pageOf(items, { limit: MAX_ADDED, order: 'asc', after: undefined }) };
    },
  });
}

function getItem(ports: ConversationPorts): Route {
  return route({
    method: 'get',
    path: `${path}/items/:item`,
    operationId: 'getConversationItem',
    summary: 'Read an item of a conversation',
    scope: 'read',
    request: { params: itemParams, query: noQuery },
    responses: answers,
    handle: async ({ params: { conversation: id, item } }, { tenant }) => {
      await ports.conversations.find(tenant, id);
      const found = await findConversationItem(ports, { tenant, id }, item);
      if (!found) throw itemNotFound(item);
      return { status: 200, body: found };
    },
  });
}

function deleteItem(ports: ConversationPorts): Route {
  return route({
    method: 'delete',
    path: `${path}/items/:item`,
    operationId: 'deleteConversationItem',
    summary: 'Remove an item that was added to a conversation',
    scope: 'submit',
    request: { params: itemParams, query: noQuery },
    responses: answers,
    handle: async ({ params: { conversation: id, item } }, { tenant }) => {
      const conversation = await ports.conversations.find(tenant, id);
      if (await ports.conversations.removeItem(tenant, id, item)) return { status: 200, body: view(conversation) };
      if (await findConversationItem(ports, { tenant, id }, item)) throw wrong('item', 'it is of a response: remove that');
      throw itemNotFound(item);
    },
  });
}

function itemNotFound(item: string): MusterError {
  return new MusterError('task.not-found', `Item with id '${item.slice(0, 100)}' not found in this conversation.`);
}

function view({ id, createdAt, metadata }: ConversationRecord): object {
  return { id, object: 'conversation', created_at: Math.floor(createdAt / 1000), metadata };
}

type GivenItem = z.infer<typeof addedSchema>[number];

const PREFIXES: Readonly<Record<string, string>> = { function_call: 'fc', function_call_output: 'fco' };

/** An item as it is kept, with an id and a status of its own. Errors: `request.invalid` for one that stands for another. */
function storedItem(item: GivenItem): StoredItem {
  const { type = 'message' } = item;
  if (type === 'item_reference' || type === 'reasoning') throw wrong('items', `expected messages and calls of functions, not "${type}"`);
  const id = `${PREFIXES[type] ?? 'msg'}_${newTaskId()}`;
  return Object.assign({}, item, contentOf(item), { type, id, status: 'completed' });
}

/** A text as the parts that clients read. */
function contentOf(item: GivenItem): { content?: object[] } {
  if (!('role' in item) || typeof item['content'] !== 'string') return {};
  return { content: [{ type: item['role'] === 'assistant' ? 'output_text' : 'input_text', text: item['content'] }] };
}
