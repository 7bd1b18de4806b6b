import type { Log } from '#shared/log/index.ts';
import { LATE, within } from '#shared/time/index.ts';
import type { ChatMessage } from '../receive/chat-message.ts';
import type { AlbumBatch, AlbumStore } from './album-store.ts';

interface AlbumGathererOptions {
  store: AlbumStore;
  /** How long the next part of an album is waited for. */
  waitMs: number;
  /** How long another part without words belongs to an album that the platform does not name. */
  lateMs: number;
  /** How long a part is known, and retried while it cannot be accepted. */
  keepMs: number;
  /** Makes a message the session's. What it throws is tried again. */
  accept(message: ChatMessage): Promise<void>;
  /** Redis's time, ms. */
  now(): Promise<number>;
  log: Log;
}

/** Between two polls for parts that another process gathered and did not accept. */
const POLL_MS = 2000;
/** Bound of the timers of one process; the poll finds sessions beyond it. */
const MAX_TIMERS = 5000;

/**
 * AlbumGatherer is responsible for albums becoming one message each, whose parts platforms send one by one, each after the answer to
 * the last. A part is acknowledged when it is kept, so nothing waits for the rest and nothing is lost.
 */
export class AlbumGatherer {
  readonly #options: AlbumGathererOptions;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #accepting = new Set<Promise<void>>();
  #poll: NodeJS.Timeout | undefined;

  constructor(options: AlbumGathererOptions) {
    this.#options = options;
  }

  start(): void {
    this.#poll = setInterval(() => this.#run(() => this.#acceptDue()), POLL_MS);
  }

  /** Parts that are not accepted yet are claimed by another process, or after the next start. */
  async stop(graceMs: number): Promise<void> {
    clearInterval(this.#poll);
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    if ((await within(Promise.all(this.#accepting), graceMs)) === LATE)
      this.#options.log.debug('another process accepts the remaining albums');
  }

  /** Resolves when the part is kept. A part that comes after its album is accepted by itself, in a mode that stops nothing. */
  async add(part: ChatMessage, { name }: NonNullable<ChatMessage['album']>): Promise<void> {
    const added = await this.#options.store.add(part, name, canBeLate(part));
    if (added === 'late') await this.#options.accept({ ...part, mode: 'queue' });
    if (added === 'gathering') this.#acceptLater(part.session);
  }

  /** Accepts the parts of a session now, because a later message must not be accepted before them. */
  async flush(session: string): Promise<void> {
    clearTimeout(this.#timers.get(session));
    this.#timers.delete(session);
    await this.#acceptParts(session, true);
  }

  #acceptLater(session: string): void {
    clearTimeout(this.#timers.get(session));
    if (!this.#timers.has(session) && this.#timers.size >= MAX_TIMERS) return;
    const onTimer = (): void => {
      this.#timers.delete(session);
      this.#run(() => this.#acceptParts(session, false));
    };
    this.#timers.set(session, setTimeout(onTimer, this.#options.waitMs + 1));
  }

  async #acceptDue(): Promise<void> {
    const due = await this.#options.store.due(await this.#options.now());
    for (const session of due) this.#run(() => this.#acceptParts(session, false));
  }

  async #acceptParts(session: string, isForced: boolean): Promise<void> {
    const batch = await this.#options.store.claim(session, isForced);
    if (batch === null) return;
    // Parts that came while the rest of their album was accepted are a batch of their own.
    const late = await this.#options.store.late(session, lateAlbums(batch.parts), await this.#options.now());
    const messages = joinParts(batch.parts, late);
    for (const message of messages.filter(({ isAddressed }) => isAddressed)) await this.#options.accept(message);
    await this.#finish(batch);
  }

  async #finish(batch: AlbumBatch): Promise<void> {
    const { store, keepMs, lateMs } = this.#options;
    const albums = batch.parts.flatMap(({ album }) => (album ? [[album.name, album.isGuess ? lateMs : keepMs] as const] : []));
    await store.finish(batch, Object.fromEntries(albums));
  }

  /** A failure is logged, and the next poll retries. */
  #run(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.#options.log.warn({ event: 'chat.album-later', err: error }, 'an album could not be accepted now'))
      .finally(() => this.#accepting.delete(running));
    this.#accepting.add(running);
  }
}

/** Whether the part may belong to an album that is a message by now: one with words begins an album that the platform does not name. */
function canBeLate({ album, text }: ChatMessage): boolean {
  return album !== undefined && (!album.isGuess || text === '');
}

function lateAlbums(parts: readonly ChatMessage[]): string[] {
  return [...new Set(parts.flatMap((part) => (part.album && canBeLate(part) ? [part.album.name] : [])))];
}

/**
 * The messages that parts of albums are: of each album and person one, with all captions and attachments in the order of the platform.
 * It has the key and the place of its first part, and stops nothing when its album is one of the `late` ones.
 */
function joinParts(parts: readonly ChatMessage[], late: ReadonlySet<string>): ChatMessage[] {
  const albums = new Map<string, ChatMessage[]>();
  for (const part of parts.toSorted(inOrder)) {
    const name = JSON.stringify([part.user, part.album?.name ?? part.key]);
    albums.set(name, [...(albums.get(name) ?? []), part]);
  }
  return [...albums.values()].flatMap((album) => joined(album, late));
}

function inOrder(one: ChatMessage, other: ChatMessage): number {
  return (one.sequence ?? 0) - (other.sequence ?? 0) || (one.key < other.key ? -1 : 1);
}

function joined(album: readonly ChatMessage[], late: ReadonlySet<string>): ChatMessage[] {
  const [first] = album;
  if (first === undefined) return [];
  const { album: _album, ...message } = first;
  const text = album.map((part) => part.text).filter((each) => each !== '');
  const attachments = album.flatMap((part) => part.attachments);
  const files = album.flatMap((part) => part.files ?? []);
  const isLate = late.has(first.album?.name ?? '') && album.every((part) => canBeLate(part));
  return [
    {
      ...message,
      ...(isLate ? { mode: 'queue' as const } : {}),
      text: text.join('\n'),
      attachments,
      ...(files.length === 0 ? {} : { files }),
      isAddressed: album.some(({ isAddressed }) => isAddressed),
    },
  ];
}
