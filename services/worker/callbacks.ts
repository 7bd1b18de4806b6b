import { DeliveryService } from '#shared/deliveries/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { type JobSource, outboundSlots } from '#shared/queue/index.ts';
import type { JobTaker } from '#shared/lifecycle/index.ts';

/** Callbacks, which need no secret beyond a worker's. Replies need a platform's, so the service `chat` sends them. */
export function openCallbacks(parts: Parts, source: JobSource): JobTaker[] {
  const { settings, env } = parts.config;
  const slots = outboundSlots(settings, 'deliveries', env.MUSTER_QUEUES);
  if (slots === 0) return [];
  const service = new DeliveryService({ parts, ports: [], source, slots: { deliveries: slots } });
  return [
    {
      start: () => service.start(),
      // Callbacks of attempts that end during the drain are sent too.
      quiet: () => Promise.resolve(),
      stop: (graceMs) => service.stop(graceMs),
      get problem() {
        return service.problems()[0] ?? null;
      },
    },
  ];
}
