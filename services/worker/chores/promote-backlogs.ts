import { promoteBacklog, tenantsWithTasks } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';

/** Lets through what waits for caps that were raised, without waiting for the end of a task that may take hours. */
export async function promoteBacklogs({ ledger, tenants, log }: Pick<Parts, 'ledger' | 'tenants' | 'log'>): Promise<void> {
  for (const id of (await tenantsWithTasks(ledger, tenants.list(), 'live')).keys()) {
    try {
      const tasks = await promoteBacklog(ledger, id);
      if (tasks > 0) log.info({ event: 'tenant.promoted', tenant: id, tasks }, 'its limits have room for tasks that waited for them');
    } catch (error) {
      log.error({ err: error, tenant: id }, 'the backlog of a tenant could not be looked at');
    }
  }
}
