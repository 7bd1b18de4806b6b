import { backlogPlace, type Ledger, readFirstPlaces, releaseFirstHeld } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import type { TaskState } from '../../tasks/index.ts';
import { Recent, Ticker } from '../../time/index.ts';
import { publishDaemonStates } from '../daemon-signals.ts';
import type { Candidate } from './choose-daemon.ts';
import { ANY_TENANT } from './daemon-directory.ts';
import { HeldKinds } from './held-kinds.ts';
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

const MAX_PRIORITY = 10;
/** Daemons with released tasks on their way, and how long these may take before others are released in their place, ms. */
const MAX_EXPECTED = 10_000;
const EXPECTED_MS = 2000;

/**
 * HeldSearch is responsible for the tasks that wait for a daemon: when one of this process has room, it releases the best of those that the
 * daemon can run, as many as it has slots for. Each search reads what the daemon can run, not the tasks.
 */
export class HeldSearch {
  readonly #options: HeldSearchOptions;
  readonly #sweep: Ticker;
  readonly #stopping = new AbortController();
  /** Tenants with tasks that may be held for daemons. */
  readonly #held = new Set<string>();
  readonly #kinds: HeldKinds;
  /** Tasks that were released for a daemon here and have not come yet. */
  readonly #expected = new Recent<string, number>({ maxEntries: MAX_EXPECTED, keepMs: EXPECTED_MS });
  /** Tenants whose held tasks are being searched, and whether to search again. */
  readonly #searching = new Map<string, { again: boolean }>();

  constructor(options: HeldSearchOptions) {
    this.#options = options;
    this.#kinds = new HeldKinds({ ledger: options.ledger, keepMs: options.settings.sweepMs / 2 });
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

  /** A task of this tenant is held by these needs: a daemon may have room for it by now. */
  noteHeld(tenant: string, what: string | null): void {
    this.#held.add(tenant);
    this.#kinds.add(tenant, what);
    this.#search(tenant);
  }

  /** Whether tasks of the tenant may be held. */
  mayHold(tenant: string): boolean {
    return this.#held.has(tenant);
  }

  /** Whether a held task that the daemon could run stands before this one. */
  async hasBefore({ id, state }: { id: string; state: TaskState }, tenant: string, daemon: Candidate): Promise<boolean> {
    if (!this.#held.has(tenant)) return false;
    const { additions } = this.#kinds;
    const holds = await this.#kinds.fitting(tenant, daemon);
    if (holds.length === 0) return false;
    const firsts = await readFirstPlaces(this.#options.ledger, tenant, holds);
    const empty = firsts.filter(({ place }) => place === null).map(({ hold }) => hold);
    this.#kinds.remove(tenant, empty, additions);
    const own = `${String(MAX_PRIORITY - state.priority).padStart(2, '0')}/${backlogPlace(state, id)}`;
    return firsts.some(({ place }) => place !== null && place < own);
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
    if ((await this.#kinds.read(tenant)).size === 0) this.#held.delete(tenant);
    for (const daemon of free) {
      const { additions } = this.#kinds;
      const holds = await this.#kinds.fitting(tenant, daemon);
      if (holds.length === 0) continue;
      // Before the tickets come out, so that the hub that gets one knows of the room.
      await publishDaemonStates(ledger, [{ tenant: daemon.tenant, id: daemon.id, state: { ...daemon.state, beatAt: Date.now() } }]);
      const { ids, empty } = await releaseFirstHeld(ledger, tenant, holds, this.#roomOf(daemon));
      this.#kinds.remove(tenant, empty, additions);
      if (ids.length > 0) this.#expected.set(daemon.id, (this.#expected.get(daemon.id) ?? 0) + ids.length);
    }
  }

  #roomOf({ id, state }: LocalDaemon): number {
    return state.isDraining ? 0 : state.slots - state.running - (this.#expected.get(id) ?? 0);
  }

  #onError(error: unknown): void {
    this.#options.log.debug({ err: error }, 'held tasks could not be searched; the next search finds them');
  }
}
