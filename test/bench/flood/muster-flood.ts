import { setTimeout as delay } from 'node:timers/promises';
import { acceptTask } from '#shared/queue/accept/accept-task.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { openTestParts } from '../../support/open-test-parts.ts';
import { inFlight } from '../in-flight.ts';
import type { FloodOptions, FloodSystem } from './flood-system.ts';

const IN_FLIGHT = 100;
const STOP_MS = 2000;
/** The flood is to be accepted: it is the worst case. */
const NO_LIMITS = { running: null, waiting: null, runningLow: null, runningByClass: {}, rates: {} };
const NO_WAITS = { warningWaitMs: null, criticalWaitMs: null };
const NO_PRESSURE = { ...NO_WAITS, warningDepth: 10_000_000, criticalDepth: 10_000_000 };

/** Muster with its producer and a worker in this process. */
export async function openMusterFlood(redisUrl: string, { slots, workMs }: FloodOptions): Promise<FloodSystem> {
  const starts = new Map<string, number>();
  const run = async ({ id }: { id: string }): Promise<string> => {
    starts.set(id, performance.now());
    await delay(workMs());
    return 'done';
  };
  const limits = { tenant: NO_LIMITS, backpressure: { ...NO_PRESSURE, fleet: NO_PRESSURE } };
  const settings = { agents: { work: { kind: 'function', run } }, limits } as const;
  const parts = await openTestParts({ redisUrl, settings, env: { MUSTER_QUEUES: `tasks=${slots}` } });
  const worker = createWorkerService(parts);
  const submit: FloodSystem['submit'] = async (tenant) => (await acceptTask(parts, { tenant, agent: 'work', input: 'x' })).id;
  return {
    flood: (tenant, count) => inFlight(count, IN_FLIGHT, () => submit(tenant)),
    start: () => worker.start(),
    submit,
    startedAt: (id) => starts.get(id),
    close: async () => {
      await worker.stop(STOP_MS);
      await parts.close();
    },
  };
}
