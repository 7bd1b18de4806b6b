import type { KeptListing, KeptPlaces } from './kept-places.ts';
import { digestOf, type KeptEntry, listSession, listWork } from './list-kept.ts';
import { packKept } from './pack-kept.ts';

/** KeptFiles is responsible for what of an attempt's folders later attempts get: which files that is, and their archive. */
export class KeptFiles {
  #entries: readonly KeptEntry[] = [];

  /** Rejects when the session alone is too large. */
  async list(places: KeptPlaces): Promise<KeptListing> {
    const session = await listSession(places);
    const bytes = session.reduce((sum, each) => sum + each.bytes, 0);
    if (bytes > places.maxBytes) throw new Error(`the session has more than ${places.maxBytes} bytes`);
    const { entries: work, problem } = await listWork(places, bytes);
    this.#entries = [...session, ...(work ?? [])];
    return { digest: digestOf(this.#entries), sessionFiles: session.length, entries: this.#entries.length, problem };
  }

  /** An archive of what was listed last. */
  pack(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    return packKept(this.#entries);
  }
}
