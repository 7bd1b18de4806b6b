import pMap from 'p-map';
import { isOpenCall, readEntry, readStates } from '../../ledger/index.ts';
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
    for (const [at, request] of own.entries()) {
      const suspended = states[at]?.suspended;
      if (suspended?.entry === request.seq || (suspended && isOpenCall(await readEntry(ledger, request, request.seq))))
        waiting.push(request);
    }
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
