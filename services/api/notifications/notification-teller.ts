import { readTenantEvents, type TenantEvent } from '#shared/events/tenant-events.ts';
import type { EventStream } from '#shared/http/event-stream.ts';
import { noticesOf, type Notice } from './notices-of.ts';
import type { WantedKinds } from './read-kinds.ts';
import { formatPlace, type ReaderPlace } from './reader-place.ts';
import { describeNotices, findRuns, type RunParts } from './run-notices.ts';

export interface TellerOptions {
  parts: RunParts;
  tenant: string;
  kinds: WantedKinds;
  stream: EventStream;
  place: ReaderPlace;
}

/** Entries read at once. */
const PAGE = 100;

/** NotificationTeller is responsible for telling one reader of each entry of the event stream once, in order. */
export class NotificationTeller {
  readonly #options: TellerOptions;
  #place: ReaderPlace;
  /** Whether the reader knows its place: it learns it with each event. */
  #isPlaceKnown = true;

  constructor(options: TellerOptions) {
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
      const notices = entries.map((each) => this.#wantedOf(each));
      const runs = await findRuns(parts, tenant, [...new Set(notices.flat().flatMap(({ notice }) => notice.run ?? []))]);
      for (const [position, each] of entries.entries()) {
        await this.#tellEntry(each, notices[position] ?? [], runs);
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

  async #tellEntry({ id: entry }: TenantEvent, wanted: readonly Numbered[], runs: ReadonlySet<string>): Promise<void> {
    const { parts, tenant, stream } = this.#options;
    const numbered = wanted.filter(({ notice }) => notice.run === null || runs.has(notice.run));
    const data = await describeNotices(
      parts,
      tenant,
      numbered.map(({ notice }) => notice),
    );
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

interface Numbered {
  notice: Notice;
  /** How many of its entry's notices have been told with it; null for all. */
  told: number | null;
}
