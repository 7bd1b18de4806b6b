import { listPressed, updatePressure } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';

/** Sees when tenants that were told of pressure have less of it, or none: then nobody may be sending anything. */
export async function watchPressure({ ledger, log }: Pick<Parts, 'ledger' | 'log'>): Promise<void> {
  for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
    for (const tenant of await listPressed(ledger, shard)) {
      try {
        await updatePressure(ledger, tenant);
      } catch (error) {
        log.error({ err: error, tenant }, 'the pressure of a tenant could not be noted');
      }
    }
  }
}
