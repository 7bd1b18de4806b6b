import type { ChatMessage } from '../chat-message.ts';

/**
 * The messages that parts of albums are: of each album and person one, with all captions and attachments in the order of the platform.
 * It has the key and the place of its first part.
 */
export function joinParts(parts: readonly ChatMessage[]): ChatMessage[] {
  const albums = new Map<string, ChatMessage[]>();
  for (const part of parts.toSorted(inOrder)) {
    const name = JSON.stringify([part.user, part.album?.name ?? part.key]);
    albums.set(name, [...(albums.get(name) ?? []), part]);
  }
  return [...albums.values()].flatMap((album) => joined(album));
}

function inOrder(one: ChatMessage, other: ChatMessage): number {
  return (one.sequence ?? 0) - (other.sequence ?? 0) || (one.key < other.key ? -1 : 1);
}

function joined(album: readonly ChatMessage[]): ChatMessage[] {
  const [first] = album;
  if (first === undefined) return [];
  const { album: _album, ...message } = first;
  const text = album.map((part) => part.text).filter((each) => each !== '');
  const attachments = album.flatMap((part) => part.attachments);
  return [{ ...message, text: text.join('\n'), attachments, isAddressed: album.some(({ isAddressed }) => isAddressed) }];
}
