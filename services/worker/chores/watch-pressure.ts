import { publishFleetEvent } from '#shared/events/index.ts';
import { listPressed, type PressureLevel } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { fleetBound, monitorOf, updateFleetPressure } from '#shared/queue/index.ts';

type PressureParts = Pick<Parts, 'ledger' | 'tenants' | 'log'>;

/** Until the next round while neither the fleet nor a tenant has a level, ms: acceptance raises it, or a memory that fills. */
const QUIET_MS = 15_000;

/** Updates the level of tenants that have one, which also falls while no task comes, and that of the fleet. Returns when the next round is due. */
export async function watchPressure(parts: PressureParts): Promise<number | undefined> {
  const { ledger, log } = parts;
  let pressed = 0;
  for (let shard = 0; shard < ledger.keys.shards; shard += 1) {
    for (const tenant of await listPressed(ledger, shard)) {
      pressed += 1;
      try {
        await monitorOf(parts).update(tenant);
      } catch (error) {
        log.error({ err: error, tenant }, 'the pressure of a tenant could not be updated');
      }
    }
  }
  const level = await watchFleet(parts);
  return pressed === 0 && level === 'none' ? QUIET_MS : undefined;
}

/** The fleet's level is published to its operators when it changes. */
async function watchFleet({ ledger, tenants, log }: PressureParts): Promise<PressureLevel> {
  const { previous, ...load } = await updateFleetPressure(ledger, tenants.list());
  const { level, depth, waitMs, memory = null } = load;
  if (level === previous) return level;
  const event = level === 'none' ? 'backpressure.cleared' : (`backpressure.${level}` as const);
  const { backpressure } = ledger.settings.limits;
  const fields = { event, queueDepth: depth, estimatedWaitMs: waitMs, redisMemoryShare: memory };
  if (level === 'none') log.info(fields, 'the load of the fleet is normal again');
  else if (level === 'warning') log.warn(fields, 'the fleet has a high load');
  else log.error(fields, 'the fleet is overloaded');
  const bound = fleetBound(load, backpressure);
  await publishFleetEvent(ledger, { event, level, depth, wait: waitMs ?? -1, slow: backpressure.slowDown, bound });
  return level;
}
