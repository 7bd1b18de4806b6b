import { DeliveryService } from '#shared/deliveries/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { type JobSource, outboundSlots } from '#shared/queue/index.ts';
import type { JobTaker } from '../worker-service.ts';

/** Callbacks, which any worker sends: they need no secret that a worker does not have. Replies are for those who hold a platform's. */
export function openDeliveries(parts: Parts, source: JobSource): JobTaker[] {
  const { settings, env } = parts.config;
  const slots = outboundSlots(settings, 'deliveries', env.MUSTER_QUEUES);
  if (slots === 0) return [];
  const service = new DeliveryService({ parts, ports: [], source, slots: { deliveries: slots } });
  return [
    {
      start: () => service.start(),
      // What attempts end with while the worker drains is sent, too.
      quiet: () => Promise.resolve(),
      stop: (graceMs) => service.stop(graceMs),
      get problem() {
        return service.problems()[0] ?? null;
      },
    },
  ];
}
