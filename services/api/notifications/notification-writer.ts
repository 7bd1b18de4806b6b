import { type EventFeed, isEntryBefore, newestTenantEvent, readTenantEvents, type TenantEvent, watchTenant } from '#shared/events/index.ts';
import type { EventStream } from '#shared/http/index.ts';
import { isEntryId } from '#shared/redis/index.ts';
import { describeNotices, findRuns, kindsOf, type Notice, readNotices, readSubjects, type NoticePorts, type Subject } from './notices.ts';
import type { WantedKinds } from './stream-notifications.ts';

interface NotificationStreamOptions {
  tenant: string;
  kinds: WantedKinds;
  /** How far the reader has read; null for a reader that begins now. */
  after: ReadPosition | null;
}

/** The sources of a stream of notifications. */
export interface NotificationPorts extends NoticePorts {
  readonly events: EventFeed;
}

/**
 * Sends a reader the events of its tenant until it is gone or may read no more. Hints only say when to read the event stream, so no event
 * is lost.
 */
export async function writeNotifications(parts: NotificationPorts, options: NotificationStreamOptions, stream: EventStream): Promise<void> {
  const { tenant, kinds } = options;
  const { commentMs, pollMs } = parts.config.settings.events;
  const isWanted = (event: string): boolean => kindsOf(event).some((kind) => kinds.has(kind));
  const watch = watchTenant(parts.events, tenant, isWanted, stream.signal);
  try {
    const position = await openStream(parts, options, stream);
    const writer = new NotificationWriter({ parts, tenant, kinds, stream, position });
    let commentAt = performance.now() + commentMs;
    while (!stream.signal.aborted) {
      await writer.writeNew();
      if (performance.now() >= commentAt) {
        // Many entries that the reader does not want may follow the last one it was sent.
        stream.comment(writer.takeUnknownPosition());
        commentAt = performance.now() + commentMs;
      }
      await watch.next(Math.max(0, Math.min(pollMs, commentAt - performance.now())));
    }
  } finally {
    watch.stop();
  }
}

/** Announces that the stream is open, and where it begins. */
async function openStream(
  parts: NotificationPorts,
  { tenant, after }: NotificationStreamOptions,
  stream: EventStream,
): Promise<ReadPosition> {
  const newest = await newestTenantEvent(parts, tenant);
  const now = { entry: newest, sent: null };
  await stream.send('open', { ok: true }, after === null ? newest : undefined);
  if (after === null) return now;
  if (!isEntryBefore(newest, after.entry)) return after;
  // Redis lost what came between, or the id was made up.
  await stream.send('gap', { from: formatPosition(after), oldest: newest });
  return now;
}

interface NotificationWriterOptions {
  parts: NoticePorts;
  tenant: string;
  kinds: WantedKinds;
  stream: EventStream;
  position: ReadPosition;
}

/** Entries read at once. */
const PAGE = 100;

/** NotificationWriter is responsible for sending one reader each entry of the event stream once, in order. */
class NotificationWriter {
  readonly #options: NotificationWriterOptions;
  #position: ReadPosition;
  /** Whether the reader knows its position: it learns it with each event. */
  #isPositionKnown = true;

  constructor(options: NotificationWriterOptions) {
    this.#options = options;
    this.#position = options.position;
  }

  /** The id after which the reader should continue, when no event has carried it. */
  takeUnknownPosition(): string | undefined {
    if (this.#isPositionKnown) return undefined;
    this.#isPositionKnown = true;
    return formatPosition(this.#position);
  }

  /** Sends all new entries. */
  async writeNew(): Promise<void> {
    const { parts, tenant, stream } = this.#options;
    for (;;) {
      const { entry, sent } = this.#position;
      const { entries, gap } = await readTenantEvents(parts, tenant, { entry, isPart: sent !== null }, PAGE);
      if (gap !== null) await stream.send('gap', { from: formatPosition(this.#position), oldest: gap });
      const notices = await this.#dropOtherTasks(entries.map((each) => this.#wantedOf(each)));
      const subjects = await readSubjects(parts, tenant, tasksOf(notices.flat()));
      for (const [position, each] of entries.entries()) {
        await this.#writeEntry(each, notices[position] ?? [], subjects);
        if (stream.signal.aborted) return;
      }
      if (entries.length < PAGE) return;
    }
  }

  /** The notices of an entry that the reader wants and was not sent, numbered in the entry. */
  #wantedOf(entry: TenantEvent): NumberedNotice[] {
    const { entry: last, sent } = this.#position;
    const begin = entry.id === last ? (sent ?? 0) : 0;
    const all = readNotices(entry);
    const numbered = all.map((notice, index) => ({ notice, sent: index + 1 === all.length ? null : index + 1 }));
    return numbered.slice(begin).filter(({ notice }) => this.#options.kinds.has(notice.kind));
  }

  /** Drops notices of runs for tasks that no schedule made. */
  async #dropOtherTasks(wanted: readonly NumberedNotice[][]): Promise<NumberedNotice[][]> {
    const { parts, tenant } = this.#options;
    const runs = await findRuns(parts, tenant, tasksOf(wanted.flat().filter(({ notice }) => notice.isOfRun)));
    return wanted.map((each) => each.filter(({ notice: { isOfRun, task } }) => !isOfRun || (task !== null && runs.has(task))));
  }

  async #writeEntry(
    { id: entry }: TenantEvent,
    numbered: readonly NumberedNotice[],
    subjects: ReadonlyMap<string, Subject>,
  ): Promise<void> {
    const { parts, tenant, stream } = this.#options;
    const notices = numbered.map(({ notice }) => notice);
    const data = await describeNotices(parts, tenant, notices, subjects);
    for (const [position, { sent }] of numbered.entries()) {
      const described = data[position];
      if (stream.signal.aborted) return;
      if (!described) continue;
      await stream.send('notification', described, formatPosition({ entry, sent }));
      this.#position = { entry, sent };
      this.#isPositionKnown = true;
    }
    this.#isPositionKnown &&= this.#position.entry === entry && this.#position.sent === null;
    this.#position = { entry, sent: null };
  }
}

/** The tasks of these, each once. */
function tasksOf(numbered: readonly NumberedNotice[]): string[] {
  return [...new Set(numbered.flatMap(({ notice }) => notice.task ?? []))];
}

interface NumberedNotice {
  notice: Notice;
  /** How many of its entry's notices were sent with it; null for all. */
  sent: number | null;
}

/** How far a reader has read. */
export interface ReadPosition {
  /** Id of an entry of the event stream. */
  entry: string;
  /** How many of its notices were sent; null for all. */
  sent: number | null;
}

const POSITION = /^(\d+-\d+)(?:\.(\d{1,6}))?$/;

/** Reads what a reader sends as `Last-Event-ID`; null for anything else than an id of a notification. */
export function parsePosition(id: string): ReadPosition | null {
  const [, entry, sent] = POSITION.exec(id) ?? [];
  return entry === undefined || !isEntryId(entry) ? null : { entry, sent: sent === undefined ? null : Number(sent) };
}

/** The id that a notification carries. One entry may be about many tasks, and a reader may be cut off in the middle of it. */
function formatPosition({ entry, sent }: ReadPosition): string {
  return sent === null ? entry : `${entry}.${sent}`;
}
