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
  /** How long a part is known, and tried again while it cannot be taken. */
  keepMs: number;
  /** Makes a message the session's. What it throws is tried again. */
  accept(message: ChatMessage): Promise<void>;
  /** Redis's time, ms. */
  now(): Promise<number>;
  log: Log;
}

/** Between two looks for parts that another process gathered and did not take. */
const POLL_MS = 2000;
/** Timers of one process; sessions beyond these are found by the look. */
const MAX_TIMERS = 5000;

/**
 * AlbumGatherer is responsible for albums becoming one message each, whose parts platforms send one by one, each after the answer to
 * the last. A part is acknowledged when it is kept, so nothing waits for the rest and nothing is lost.
 */
export class AlbumGatherer {
  readonly #options: AlbumGathererOptions;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #taking = new Set<Promise<void>>();
  #look: NodeJS.Timeout | undefined;

  constructor(options: AlbumGathererOptions) {
    this.#options = options;
  }

  start(): void {
    this.#look = setInterval(() => this.#run(() => this.#takeDue()), POLL_MS);
  }

  /** What is not taken yet is taken by another process, or after the next start. */
  async stop(graceMs: number): Promise<void> {
    clearInterval(this.#look);
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    if ((await within(Promise.all(this.#taking), graceMs)) === LATE) this.#options.log.debug('albums are taken by another process');
  }

  /** Resolves when the part is kept, or when it is taken because its album was already: then it stops nothing that runs. */
  async add(part: ChatMessage, { name, isGuess }: NonNullable<ChatMessage['album']>): Promise<void> {
    const added = await this.#options.store.add(part, name, !isGuess || part.text === '');
    if (added === 'late') await this.#options.accept({ ...part, mode: 'queue' });
    if (added === 'gathering') this.#takeLater(part.session);
  }

  /** Takes the parts of a session now: what comes after them must not be taken before. */
  async flush(session: string): Promise<void> {
    clearTimeout(this.#timers.get(session));
    this.#timers.delete(session);
    await this.#take(session, true);
  }

  #takeLater(session: string): void {
    clearTimeout(this.#timers.get(session));
    if (!this.#timers.has(session) && this.#timers.size >= MAX_TIMERS) return;
    const take = (): void => {
      this.#timers.delete(session);
      this.#run(() => this.#take(session, false));
    };
    this.#timers.set(session, setTimeout(take, this.#options.waitMs + 1));
  }

  async #takeDue(): Promise<void> {
    const due = await this.#options.store.due(await this.#options.now());
    for (const session of due) this.#run(() => this.#take(session, false));
  }

  async #take(session: string, isForced: boolean): Promise<void> {
    const batch = await this.#options.store.claim(session, isForced);
    if (batch === null) return;
    const messages = joinParts(batch.parts);
    for (const message of messages.filter(({ isAddressed }) => isAddressed)) await this.#options.accept(message);
    await this.#finish(batch);
  }

  async #finish(batch: AlbumBatch): Promise<void> {
    const { store, keepMs, lateMs } = this.#options;
    const albums = batch.parts.flatMap(({ album }) => (album ? [[album.name, album.isGuess ? lateMs : keepMs] as const] : []));
    await store.finish(batch, Object.fromEntries(albums));
  }

  /** What fails is logged, and done again by the next look. */
  #run(work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => this.#options.log.warn({ event: 'chat.album-later', err: error }, 'an album could not be taken now'))
      .finally(() => this.#taking.delete(running));
    this.#taking.add(running);
  }
}

/**
 * The messages that parts of albums are: of each album and person one, with all captions and attachments in the order of the platform.
 * It has the key and the place of its first part.
 */
function joinParts(parts: readonly ChatMessage[]): ChatMessage[] {
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
