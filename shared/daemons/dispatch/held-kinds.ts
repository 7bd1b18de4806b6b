import type { TaskHold } from '../../errors/index.ts';
import { type Ledger, listHoldHeads } from '../../ledger/index.ts';
import { Recent } from '../../time/index.ts';
import { type Candidate, hasRoomFor, isCapable } from './choose-daemon.ts';
import { type Needs, parseNeeds } from './needs.ts';

/** Different needs of one tenant's held tasks that are compared with a daemon. */
const MAX_KINDS = 2000;
const MAX_TENANTS = 1000;

/** Needs by the text that the ledger lists them by. */
type Kinds = Map<string, Needs>;

interface HeldKindsOptions {
  readonly ledger: Ledger;
  /** How long what was read is believed, for lost messages, ms. */
  readonly keepMs: number;
}

/**
 * HeldKinds is responsible for knowing what the held tasks of a tenant need, so that a daemon with room costs Redis only what it can run.
 * A kind without tasks costs one look-up and is forgotten.
 */
export class HeldKinds {
  readonly #options: HeldKindsOptions;
  readonly #tenants: Recent<string, Kinds>;
  /** How many were added: what was read before an addition says nothing about it. */
  #additions = 0;

  constructor(options: HeldKindsOptions) {
    this.#options = options;
    this.#tenants = new Recent({ maxEntries: MAX_TENANTS, keepMs: options.keepMs });
  }

  /** A task was held by this; null where a hub of an older version did not say by what. */
  add(tenant: string, what: string | null): void {
    this.#additions += 1;
    const needs = what === null ? null : parseNeeds(what);
    if (what === null || needs === null) this.#tenants.delete(tenant);
    else this.#tenants.get(tenant)?.set(what, needs);
  }

  /** Forgets kinds without tasks, as a reading since `additions` found. Does nothing when a task was held meanwhile. */
  remove(tenant: string, empty: readonly TaskHold[], additions: number): void {
    if (additions !== this.#additions) return;
    for (const { what } of empty) this.#tenants.get(tenant)?.delete(what);
  }

  get additions(): number {
    return this.#additions;
  }

  /** The kinds that a daemon could run now. */
  async fitting(tenant: string, daemon: Candidate): Promise<TaskHold[]> {
    const kinds = [...(await this.read(tenant))].filter(([, needs]) => isCapable(daemon, needs) && hasRoomFor(daemon, needs));
    return kinds.map(([what]) => ({ gate: 'daemon', what }));
  }

  /** One call when nothing was read lately. */
  async read(tenant: string): Promise<Kinds> {
    const known = this.#tenants.get(tenant);
    if (known) return known;
    const additions = this.#additions;
    const heads = await listHoldHeads(this.#options.ledger, tenant, 'daemon', MAX_KINDS);
    const kinds: Kinds = new Map();
    for (const { what } of heads) {
      const needs = parseNeeds(what);
      if (needs) kinds.set(what, needs);
    }
    if (additions === this.#additions) this.#tenants.set(tenant, kinds);
    return kinds;
  }
}
