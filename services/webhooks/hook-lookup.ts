import { wait } from '#shared/time/index.ts';
import type { HookStore } from './hook-store.ts';

/** How long ids are gathered for one read. */
const GATHER_MS = 100;
/** Ids of one read; further ones count as unknown. */
const MAX_IDS = 1000;

interface Gathered {
  readonly ids: Set<string>;
  readonly known: Promise<ReadonlySet<string>>;
}

/**
 * HookLookup is responsible for requests of addresses that guess ids of hooks, which may mean a known hook all the same: those of a moment
 * share one read, so that guesses cost Redis next to nothing, however many they are.
 */
export class HookLookup {
  readonly #store: Pick<HookStore, 'findKnown'>;
  #gathered: Gathered | undefined;

  constructor(store: Pick<HookStore, 'findKnown'>) {
    this.#store = store;
  }

  /** Whether there is a hook with this id, enabled or not. */
  async isKnown(id: string): Promise<boolean> {
    const { ids, known } = (this.#gathered ??= this.#gather());
    if (ids.size >= MAX_IDS && !ids.has(id)) return false;
    ids.add(id);
    return (await known).has(id);
  }

  #gather(): Gathered {
    const ids = new Set<string>();
    return { ids, known: this.#read(ids) };
  }

  async #read(ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    await wait(GATHER_MS);
    this.#gathered = undefined;
    return await this.#store.findKnown([...ids]);
  }
}
