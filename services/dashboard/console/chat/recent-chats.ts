import { z } from 'zod';

export interface RecentChat {
  /** The session. */
  id: string;
  /** How it began. */
  title: string;
}

const MAX_CHATS = 30;
const TITLE_CHARACTERS = 60;
const chatsSchema = z.array(z.object({ id: z.string(), title: z.string() })).catch([]);

/** The conversations that were begun in this browser, the newest first. */
export function readRecentChats(tenant: string): RecentChat[] {
  try {
    return chatsSchema.parse(JSON.parse(window.localStorage.getItem(placeOf(tenant)) ?? '[]'));
  } catch {
    // Somebody else's text, or a browser that keeps nothing: then there are none.
    return [];
  }
}

/** Notes that a conversation began with these words. Of several that were sent at once, the first one names it. */
export function rememberChat(tenant: string, id: string, text: string): void {
  const known = readRecentChats(tenant);
  if (known.some((chat) => chat.id === id)) return;
  const chats = [{ id, title: titleOf(text) }, ...known].slice(0, MAX_CHATS);
  try {
    window.localStorage.setItem(placeOf(tenant), JSON.stringify(chats));
  } catch {
    // It is only for its title in the list.
  }
}

function titleOf(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' ').trim());
  return characters.length <= TITLE_CHARACTERS ? characters.join('') : `${characters.slice(0, TITLE_CHARACTERS - 1).join('')}…`;
}

function placeOf(tenant: string): string {
  return `muster:chats:${tenant}`;
}
