import { afterAll } from 'vitest';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { createWorkerService } from '../../services/worker/create-worker-service.ts';

/** A running worker, for all tests of a file. */
export async function useWorker(parts: Parts): Promise<Service> {
  const worker = createWorkerService(parts);
  await worker.start();
  afterAll(() => worker.stop(1000));
  return worker;
}
