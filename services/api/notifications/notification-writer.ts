import { readTenantEvents, type TenantEvent } from '#shared/events/index.ts';
import type { EventStream } from '#shared/http/index.ts';
import { noticesOf, type Notice } from './notices-of.ts';
import type { WantedKinds } from './read-kinds.ts';
import { formatPlace, type ReaderPlace } from './reader-place.ts';
import { describeNotices, findRuns, type RunParts } from './run-notices.ts';
import { readSubjects, type Subject } from './subjects.ts';

interface NotificationWriterOptions {
  parts: RunParts;
  tenant: string;
  kinds: WantedKinds;
  stream: EventStream;
  place: ReaderPlace;
}

/** Entries read at once. */
const PAGE = 100;

/** NotificationTeller is responsible for telling one reader of each entry of the event stream once, in order. */
export class NotificationWriter {
  readonly #options: NotificationWriterOptions;
  #place: ReaderPlace;
  /** Whether the reader knows its place: it learns it with each event. */
  #isPlaceKnown = true;

  constructor(options: NotificationWriterOptions) {
    this.#options = options;
    this.#place = options.place;
  }

  /** The id behind which the reader should go on, when no event has told it so. */
  takeUnknownPlace(): string | undefined {
    if (this.#isPlaceKnown) return undefined;
    this.#isPlaceKnown = true;
    return formatPlace(this.#place);
  }

  /** Tells what there is by now. */
  async tell(): Promise<void> {
    const { parts, tenant, stream } = this.#options;
    for (;;) {
      const { entry, told } = this.#place;
      const { entries, gap } = await readTenantEvents(parts, tenant, { entry, isPart: told !== null }, PAGE);
      if (gap !== null) await stream.send('gap', { from: formatPlace(this.#place), oldest: gap });
      const notices = await this.#withoutOthers(entries.map((each) => this.#wantedOf(each)));
      const subjects = await readSubjects(parts, tenant, tasksOf(notices.flat()));
      for (const [position, each] of entries.entries()) {
        await this.#tellEntry(each, notices[position] ?? [], subjects);
        if (stream.signal.aborted) return;
      }
      if (entries.length < PAGE) return;
    }
  }

  /** What the reader wants of an entry and has not been told, with how many of its notices have been told then. */
  #wantedOf(entry: TenantEvent): Numbered[] {
    const { entry: last, told } = this.#place;
    const begin = entry.id === last ? (told ?? 0) : 0;
    const all = noticesOf(entry);
    const numbered = all.map((notice, index) => ({ notice, told: index + 1 === all.length ? null : index + 1 }));
    return numbered.slice(begin).filter(({ notice }) => this.#options.kinds.has(notice.kind));
  }

  /** Leaves out what is told of runs for tasks that are none. */
  async #withoutOthers(wanted: readonly Numbered[][]): Promise<Numbered[][]> {
    const { parts, tenant } = this.#options;
    const runs = await findRuns(parts, tenant, tasksOf(wanted.flat().filter(({ notice }) => notice.isOfRun)));
    return wanted.map((each) => each.filter(({ notice: { isOfRun, task } }) => !isOfRun || (task !== null && runs.has(task))));
  }

  async #tellEntry({ id: entry }: TenantEvent, numbered: readonly Numbered[], subjects: ReadonlyMap<string, Subject>): Promise<void> {
    const { parts, tenant, stream } = this.#options;
    const notices = numbered.map(({ notice }) => notice);
    const data = await describeNotices(parts, tenant, notices, subjects);
    for (const [position, { told }] of numbered.entries()) {
      const whole = data[position];
      if (stream.signal.aborted) return;
      if (!whole) continue;
      await stream.send('notification', whole, formatPlace({ entry, told }));
      this.#place = { entry, told };
      this.#isPlaceKnown = true;
    }
    this.#isPlaceKnown &&= this.#place.entry === entry && this.#place.told === null;
    this.#place = { entry, told: null };
  }
}

/** The tasks of these, each once. */
function tasksOf(numbered: readonly Numbered[]): string[] {
  return [...new Set(numbered.flatMap(({ notice }) => notice.task ?? []))];
}

interface Numbered {
  notice: Notice;
  /** How many of its entry's notices have been told with it; null for all. */
  told: number | null;
}
