import { z } from 'zod';

export interface RecentChat {
  /** The session. */
  id: string;
  /** How it began. */
  title: string;
}

const MOST = 30;
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

/** Notes that a conversation began with these words. */
export function rememberChat(tenant: string, id: string, text: string): void {
  const title = text.replaceAll(/\s+/g, ' ').slice(0, TITLE_CHARACTERS);
  const chats = [{ id, title }, ...readRecentChats(tenant).filter((chat) => chat.id !== id)].slice(0, MOST);
  try {
    window.localStorage.setItem(placeOf(tenant), JSON.stringify(chats));
  } catch {
    // It is only for its title in the list.
  }
}

function placeOf(tenant: string): string {
  return `muster:chats:${tenant}`;
}
