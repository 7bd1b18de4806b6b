import type { Log } from '../log/index.ts';
import { LATE, within } from '../time/index.ts';
import type { Service } from './service.ts';

export interface RunningServices {
  /** Ends all, the last started first, within `graceMs` together. Never rejects. */
  stop(graceMs: number): Promise<void>;
}

/** Past its deadline a service gets this long to notice before the next one is stopped. */
const NOTICE_MS = 250;

/** Starts services one after the other. When one cannot start, those before it are stopped and its error is thrown. */
export async function startServices(services: readonly Service[], log: Log): Promise<RunningServices> {
  const started: Service[] = [];
  const stop = (graceMs: number): Promise<void> => stopInReverse(started, graceMs, log);
  for (const service of services) {
    try {
      await service.start();
    } catch (error) {
      log.error({ event: 'service.start-failed', name: service.name }, `The service ${service.name} could not start`);
      await stop(0);
      throw error;
    }
    started.push(service);
  }
  return { stop };
}

/** One deadline for all: what an early one does not use is left to the next. */
async function stopInReverse(services: readonly Service[], graceMs: number, log: Log): Promise<void> {
  const deadline = performance.now() + graceMs;
  for (const service of services.toReversed()) {
    const leftMs = Math.max(deadline - performance.now(), 0);
    try {
      const end = await within(service.stop(leftMs), leftMs + NOTICE_MS);
      if (end === LATE) log.warn({ event: 'service.stop-late', name: service.name }, `The service ${service.name} did not stop in time`);
    } catch (error) {
      log.error({ event: 'service.stop-failed', name: service.name, err: error }, `The service ${service.name} failed while it stopped`);
    }
  }
}
