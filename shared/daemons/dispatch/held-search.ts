import type { Ledger } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import { Recent, Ticker } from '../../time/index.ts';
import { publishDaemonStates } from '../daemon-signals.ts';
import { isCapable } from './choose-daemon.ts';
import { ANY_TENANT } from './daemon-directory.ts';
import { readHeldNeeds, releaseFor } from './held-tasks.ts';
import { type LocalDaemon, type LocalDaemons, serves } from './local-daemons.ts';

interface HeldSearchOptions {
  ledger: Ledger;
  local: LocalDaemons;
  settings: {
    /** Between two searches of all tenants, for lost messages, ms. */
    sweepMs: number;
  };
  log: Log;
}

/** Daemons with released tasks on their way, and how long these may take before others are released in their place, ms. */
const MAX_EXPECTED = 10_000;
const EXPECTED_MS = 2000;

/**
 * HeldSearch is responsible for the tasks that wait for a daemon: when one of this process has room, it releases the best of those that the
 * daemon can run, as many as it has slots for. Each search reads what is needed, not the tasks.
 */
export class HeldSearch {
  readonly #options: HeldSearchOptions;
  readonly #sweep: Ticker;
  readonly #stopping = new AbortController();
  /** Tenants with tasks that may be held for daemons. */
  readonly #held = new Set<string>();
  /** Tasks that were released for a daemon here and have not come yet. */
  readonly #expected = new Recent<string, number>({ maxEntries: MAX_EXPECTED, keepMs: EXPECTED_MS });
  /** Tenants whose held tasks are being searched, and whether to search again. */
  readonly #searching = new Map<string, { again: boolean }>();

  constructor(options: HeldSearchOptions) {
    this.#options = options;
    this.#sweep = new Ticker({
      everyMs: options.settings.sweepMs,
      run: () => this.#searchAll(),
      onError: (error) => this.#onError(error),
    });
    options.local.onRoom(({ tenant }) => {
      for (const each of tenant === ANY_TENANT ? this.#held : [tenant]) if (this.#held.has(each)) this.#search(each);
    });
  }

  start(): void {
    this.#sweep.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sweep.stop();
  }

  /** Tasks of this tenant are held: a daemon may have room for them by now. */
  noteHeld(tenant: string): void {
    this.#held.add(tenant);
    this.#search(tenant);
  }

  mayHaveHeld(tenant: string): boolean {
    return this.#held.has(tenant);
  }

  /** A daemon of this process gets a task. */
  noteArrival(daemon: string): void {
    const expected = this.#expected.get(daemon) ?? 0;
    if (expected > 0) this.#expected.set(daemon, expected - 1);
  }

  async #searchAll(): Promise<void> {
    const served = new Set([...this.#options.local.all()].map(({ tenant }) => tenant));
    const tenants = served.has(ANY_TENANT) ? this.#held.union(served) : served;
    tenants.delete(ANY_TENANT);
    await Promise.all([...tenants].map((tenant) => this.#searchOnce(tenant)));
  }

  /** Searches the held tasks of a tenant for what its daemons here can run; a search that is under way is followed by another one. */
  #search(tenant: string): void {
    const running = this.#searching.get(tenant);
    if (running) {
      running.again = true;
      return;
    }
    const search = { again: false };
    this.#searching.set(tenant, search);
    void this.#searchOnce(tenant)
      .catch((error: unknown) => this.#onError(error))
      .finally(() => {
        this.#searching.delete(tenant);
        if (search.again && !this.#stopping.signal.aborted) this.#search(tenant);
      });
  }

  async #searchOnce(tenant: string): Promise<void> {
    const { local, ledger } = this.#options;
    const free = [...local.all()].filter((daemon) => serves(daemon, tenant) && this.#roomOf(daemon) > 0);
    if (free.length === 0) return;
    const held = await readHeldNeeds(ledger, tenant);
    if (held.length === 0) this.#held.delete(tenant);
    for (const daemon of free) {
      if (!held.some(({ needs }) => isCapable(daemon, needs))) continue;
      // Before the tickets come out, so that the hub that gets one knows of the room.
      await publishDaemonStates(ledger, [{ tenant: daemon.tenant, id: daemon.id, state: daemon.state }]);
      const released = await releaseFor(ledger, held, { tenant, id: daemon.id, state: daemon.state, room: this.#roomOf(daemon) });
      if (released > 0) this.#expected.set(daemon.id, (this.#expected.get(daemon.id) ?? 0) + released);
    }
  }

  #roomOf({ id, state }: LocalDaemon): number {
    return state.isDraining ? 0 : state.slots - state.running - (this.#expected.get(id) ?? 0);
  }

  #onError(error: unknown): void {
    this.#options.log.debug({ err: error }, 'held tasks could not be searched; the next search finds them');
  }
}
