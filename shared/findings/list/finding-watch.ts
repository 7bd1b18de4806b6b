import pMap from 'p-map';
import { tenantsWithTasks } from '../../ledger/index.ts';
import type { TenantDirectory } from '../../tenants/index.ts';
import type { AlertSender } from '../alerts/alert-sender.ts';
import type { Depth } from '../inspection.ts';
import type { FindingList, ListPorts } from './finding-list.ts';
import type { ListOwner } from './finding-store.ts';

interface WatchPorts extends Pick<ListPorts, 'ledger' | 'log'> {
  readonly list: FindingList;
  readonly tenants: Pick<TenantDirectory, 'list'>;
  readonly alerts: AlertSender;
}

/** Tenants of one look, where they are few: of more each has its turn within so many looks. */
const TENANTS_PER_LOOK = 30;
const MAX_TURNS = 8;
/** Every so many looks comes one at many records. */
const LOOKS_PER_DEEP = 40;
const CONCURRENCY = 10;

/**
 * Makes what looks while nobody does, so that what came and went is found, kept and published: at the installation, and at its next share of
 * the tenants with tasks. APIs look, because every worker may be gone.
 */
export function openFindingLooks({ list, ledger, tenants, log, alerts }: WatchPorts): () => Promise<void> {
  let turn = 0;
  const lookAt = async (owner: ListOwner, depth: Depth): Promise<void> => {
    const { kept } = await list.look(owner, depth);
    const known = new Set(tenants.list().map(({ id }) => id));
    await alerts.see(owner, kept, (tenant) => known.has(tenant));
  };
  const look = async (tenant: string): Promise<unknown> =>
    await lookAt(tenant, 'quick').catch((error: unknown) => log.debug({ err: error, tenant }, 'a tenant could not be looked at'));
  return async () => {
    turn += 1;
    await lookAt(null, turn % LOOKS_PER_DEEP === 0 ? 'deep' : 'quick');
    const busy = [...(await tenantsWithTasks(ledger, tenants.list(), 'index')).keys()];
    const turns = Math.min(Math.max(1, Math.ceil(busy.length / TENANTS_PER_LOOK)), MAX_TURNS);
    const due = busy.filter((_, at) => at % turns === turn % turns);
    await pMap(due, look, { concurrency: CONCURRENCY });
  };
}
