import pMap from 'p-map';
import { tenantsWithTasks } from '../../ledger/index.ts';
import type { TenantDirectory } from '../../tenants/index.ts';
import { type Clock, Ticker } from '../../time/index.ts';
import type { FindingList, ListPorts } from './finding-list.ts';

interface WatchPorts extends Pick<ListPorts, 'redis' | 'keys' | 'ledger' | 'log'> {
  readonly list: FindingList;
  readonly tenants: Pick<TenantDirectory, 'list'>;
  readonly clock: Clock;
}

const EVERY_MS = 5000;
/** Every so many looks at the installation come one at each tenant, and one at what reads much. */
const LOOKS_PER_TENANT = 24;
const LOOKS_PER_SLOW = 120;
const CONCURRENCY = 10;

/**
 * FindingWatch is responsible for looking while nobody does, so that what came and went is found, kept and published. APIs run it, because
 * every worker may be gone; one of them looks.
 */
export class FindingWatch {
  readonly #ports: WatchPorts;
  readonly #ticker: Ticker;

  constructor(ports: WatchPorts) {
    this.#ports = ports;
    this.#ticker = new Ticker({
      everyMs: EVERY_MS,
      isBackground: true,
      run: () => this.look(),
      onError: (error) => ports.log.debug({ err: error }, 'nothing can be looked at now'),
    });
  }

  start(): void {
    this.#ticker.start();
  }

  async stop(): Promise<void> {
    await this.#ticker.stop();
  }

  /** Looks at the installation, and at its share of the tenants with tasks; does nothing where another process has just done so. */
  async look(): Promise<void> {
    const { redis, keys, list, ledger, tenants, clock, log } = this.#ports;
    if ((await redis.set(keys.fleet.findingsLooked, '', 'PX', EVERY_MS - 1, 'NX')) === null) return;
    const turn = Math.floor(clock.now() / EVERY_MS);
    await list.look(null, { withSlow: turn % LOOKS_PER_SLOW === 0 });
    const busy = [...(await tenantsWithTasks(ledger, tenants.list(), 'index')).keys()];
    const due = busy.filter((_, at) => at % LOOKS_PER_TENANT === turn % LOOKS_PER_TENANT);
    const look = async (tenant: string): Promise<unknown> =>
      await list.look(tenant).catch((error: unknown) => log.debug({ err: error, tenant }, 'a tenant could not be looked at'));
    await pMap(due, look, { concurrency: CONCURRENCY });
  }
}
