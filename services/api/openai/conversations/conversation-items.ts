import { type Ledger, readLookup, sessionLookup } from '#shared/ledger/index.ts';
import { lookForResponse } from '../responses/find-response.ts';
import { inputItems } from '../responses/input-items.ts';
import { responseObject } from '../responses/response-object.ts';
import { listOf, type ListQuery, type Page } from '../lists.ts';
import { type ConversationStore, madeAt, type StoredItem } from './conversation-store.ts';

/** Turns of a conversation that its items are taken of; older ones are left out. */
const MAX_TURNS = 2000;
const PAGE = 500;

/** Where items of a conversation come from, in the order of time: a turn, or one that was added. */
interface Source {
  readonly at: string;
  read(): Promise<StoredItem[]>;
}

interface ConversationPorts {
  readonly ledger: Ledger;
  readonly conversations: ConversationStore;
}

/** A page of all items of a conversation: what was added, and what its turns were given and gave. */
export async function listConversationItems(
  { ledger, conversations }: ConversationPorts,
  { tenant, id }: { tenant: string; id: string },
  { limit, order, after }: ListQuery,
): Promise<Page<StoredItem>> {
  const [added, turns] = await Promise.all([conversations.items(tenant, id), readTurns(ledger, tenant, id)]);
  const sources: Source[] = [
    ...added.map((item) => ({ at: madeAt(item.id), read: () => Promise.resolve([item]) })),
    ...turns.map((task) => ({ at: task, read: () => itemsOfTurn(ledger, tenant, task) })),
  ];
  sources.sort((one, other) => (one.at < other.at ? -1 : 1));
  const found = await takeItems(order === 'asc' ? sources : sources.toReversed(), { limit, order, after });
  return listOf(found.slice(0, limit), found.length > limit);
}

/** One item; null for one that is not of the conversation. */
export async function findConversationItem(
  ports: ConversationPorts,
  place: { tenant: string; id: string },
  item: string,
): Promise<StoredItem | null> {
  const added = (await ports.conversations.items(place.tenant, place.id)).find(({ id }) => id === item);
  if (added) return added;
  const task = madeAt(item);
  const turns = await readTurns(ports.ledger, place.tenant, place.id);
  const items = turns.includes(task) ? await itemsOfTurn(ports.ledger, place.tenant, task) : [];
  return items.find(({ id }) => id === item) ?? null;
}

/** The tasks of a conversation, the last first. */
async function readTurns(ledger: Ledger, tenant: string, id: string): Promise<string[]> {
  const lookup = sessionLookup(ledger, tenant, id);
  const turns: string[] = [];
  while (turns.length < MAX_TURNS) {
    const page = await readLookup(ledger, lookup, { low: '', before: turns.at(-1) ?? null, max: PAGE });
    turns.push(...page);
    if (page.length < PAGE) break;
  }
  return turns;
}

async function itemsOfTurn(ledger: Ledger, tenant: string, id: string): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  for (let part = 1; ; part += 1) {
    const answer = await lookForResponse(ledger, tenant, { task: id, part });
    if (!answer) return items;
    items.push(...inputItems(answer), ...responseObject(answer).output);
    if (answer.calls.length === 0) return items;
  }
}

/** One more than a page has, so that it is known whether there are more. */
async function takeItems(sources: readonly Source[], { limit, order, after }: ListQuery): Promise<StoredItem[]> {
  const from = after === undefined ? 0 : sources.findIndex(({ at }) => at === madeAt(after));
  const items: StoredItem[] = [];
  let isBehind = after === undefined;
  for (const source of from === -1 ? [] : sources.slice(from)) {
    const read = await source.read();
    for (const item of order === 'asc' ? read : read.toReversed()) {
      if (isBehind) items.push(item);
      else isBehind = item.id === after;
    }
    if (items.length > limit) break;
  }
  return items;
}
