import { publishFleetEvent } from '#shared/events/index.ts';
import { listPressed } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { fleetBound, monitorOf, updateFleetPressure } from '#shared/queue/index.ts';

type PressureParts = Pick<Parts, 'ledger' | 'tenants' | 'log'>;

/** Updates the level of tenants that have one, which also falls while no task comes, and that of the fleet. */
export async function watchPressure(parts: PressureParts): Promise<void> {
  const { ledger, log } = parts;
  for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
    for (const tenant of await listPressed(ledger, shard)) {
      try {
        await monitorOf(parts).update(tenant);
      } catch (error) {
        log.error({ err: error, tenant }, 'the pressure of a tenant could not be updated');
      }
    }
  }
  await watchFleet(parts);
}

/** The fleet's level is published to its operators when it changes. */
async function watchFleet({ ledger, tenants, log }: PressureParts): Promise<void> {
  const { previous, ...load } = await updateFleetPressure(ledger, tenants.list());
  const { level, depth, waitMs, memory = null } = load;
  if (level === previous) return;
  const event = level === 'none' ? 'backpressure.cleared' : (`backpressure.${level}` as const);
  const { backpressure } = ledger.settings.limits;
  const fields = { event, queueDepth: depth, estimatedWaitMs: waitMs, redisMemoryShare: memory };
  if (level === 'none') log.info(fields, 'the load of the fleet is normal again');
  else if (level === 'warning') log.warn(fields, 'the fleet has a high load');
  else log.error(fields, 'the fleet is overloaded');
  const bound = fleetBound(load, backpressure);
  await publishFleetEvent(ledger, { event, level, depth, wait: waitMs ?? -1, slow: backpressure.slowDown, bound });
}
