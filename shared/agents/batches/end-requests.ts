import pMap from 'p-map';
import { readStates } from '../../ledger/index.ts';
import type { BatchedRequest } from '../../providers/index.ts';
import { answerRequest, type BatchPorts, type RequestEnd } from './answer-request.ts';

/** Requests that are answered at once. */
const TOGETHER = 16;

/** Those of which the run waits there. */
export async function stillWaiting({ ledger }: BatchPorts, requests: readonly BatchedRequest[]): Promise<BatchedRequest[]> {
  const waiting: BatchedRequest[] = [];
  for (const [tenant, own] of Map.groupBy(requests, (request) => request.tenant)) {
    const states = await readStates(
      ledger,
      tenant,
      own.map(({ id }) => id),
    );
    waiting.push(...own.filter(({ seq }, at) => states[at]?.suspended?.entry === seq));
  }
  return waiting;
}

/** Ends requests of a batch alike. */
export async function endAll(ports: BatchPorts, batch: string, requests: readonly BatchedRequest[], end: RequestEnd): Promise<void> {
  await pMap(
    requests,
    async (request) => {
      await answerRequest(ports, request, end);
      await ports.store.forget(request, batch);
    },
    { concurrency: TOGETHER },
  );
}
