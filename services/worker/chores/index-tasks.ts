import { indexEnds, type IndexCursor, type Ledger, startIndexing, tenantsWithTasks } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { Tenant } from '#shared/tenants/index.ts';
import { type Clock, systemClock } from '#shared/time/index.ts';

interface IndexPorts {
  ledger: Ledger;
  tenants: { list(): Tenant[] };
  log: Log;
}

/** Calls of one round: about a second of work, for which other chores wait. */
const MAX_CALLS = 200;

/**
 * TaskIndexing is responsible for tasks that an older release ended: it adds them to the index by their end, agent, source and failure.
 * It goes on from round to round, and begins again when its process ends.
 */
export class TaskIndexing {
  readonly #ports: IndexPorts;
  readonly #clock: Clock;
  readonly #cursors = new Map<string, IndexCursor>();
  /** When a tenant's index was complete, monotonic ms. */
  #complete = new Map<string, number>();

  constructor(ports: IndexPorts, clock: Clock = systemClock) {
    this.#ports = ports;
    this.#clock = clock;
  }

  async run(): Promise<void> {
    const { ledger, tenants } = this.#ports;
    const busy = [...(await tenantsWithTasks(ledger, tenants.list(), 'index')).keys()];
    const since = this.#clock.monotonic() - ledger.settings.search.recheckMs;
    this.#complete = new Map([...this.#complete].filter(([tenant, at]) => at > since && busy.includes(tenant)));
    let calls = 0;
    for (const tenant of busy) {
      if (calls >= MAX_CALLS) return;
      if (!this.#complete.has(tenant)) calls += await this.#index(tenant, MAX_CALLS - calls);
    }
  }

  /** Returns how many calls it took. */
  async #index(tenant: string, maxCalls: number): Promise<number> {
    const { ledger, log } = this.#ports;
    let cursor = this.#cursors.get(tenant) ?? (await startIndexing(ledger, tenant));
    let calls = 1;
    if (cursor !== null && !this.#cursors.has(tenant)) log.info({ event: 'index.filling', tenant }, 'ended tasks are added to the index');
    while (cursor !== null && calls < maxCalls) {
      cursor = await indexEnds(ledger, tenant, cursor);
      calls += 1;
    }
    if (cursor !== null) {
      this.#cursors.set(tenant, cursor);
      return calls;
    }
    this.#complete.set(tenant, this.#clock.monotonic());
    if (this.#cursors.delete(tenant)) log.info({ event: 'index.filled', tenant }, 'the index has every ended task');
    return calls;
  }
}
