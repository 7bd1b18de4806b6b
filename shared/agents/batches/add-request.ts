import { reserveSpend, type SpendPorts, spendSubject } from '../../budgets/index.ts';
import { batchWaitOf, ModelBatchStore } from '../../providers/index.ts';
import type { WaitHandlers } from '../../waits/index.ts';
import { answerRequest, type BatchPorts, spendIdOf } from './answer-request.ts';

/** What was reserved is free again so long after its run went on: a batch that nobody has an answer of. */
const KEEP_RESERVED_MS = 2 * 86_400_000;

/**
 * Has the request of a run that waits for a batch gathered with others, under what its budgets have left for it; else the run goes on, to call
 * directly. The second time it changes nothing.
 */
export function addRequest(given: Omit<BatchPorts, 'store'>): NonNullable<WaitHandlers['batch']> {
  const ports = { ...given, store: new ModelBatchStore(given) };
  return async ({ body, entry }) => {
    const request = { tenant: body.tenant, id: body.id, seq: entry.seq };
    const wait = batchWaitOf(entry);
    const { until = entry.startedAt } = entry;
    const refuse = async (reason: string): Promise<null> => {
      await answerRequest(ports, request, { kind: 'direct', provider: null, reason });
      return null;
    };
    if (!wait) return await refuse('its request is not known');
    const isReserved = await reserve(ports, {
      id: spendIdOf(request),
      lease: `until ${until + KEEP_RESERVED_MS}`,
      subject: spendSubject(body),
      at: entry.startedAt,
      maxMicroUsd: wait.maxMicroUsd,
    });
    if (!isReserved) return await refuse('a budget has too little left for it');
    const isAdded = await ports.store.add(request, wait.target, { bytes: Buffer.byteLength(wait.body), until });
    return isAdded ? null : await refuse('too many requests wait for batches (modelBatches.maxWaiting)');
  };
}

type Reservation = Parameters<typeof reserveSpend>[1] & { maxMicroUsd: number };

async function reserve(ports: SpendPorts, { maxMicroUsd, ...request }: Reservation): Promise<boolean> {
  return (await reserveSpend(ports, request, { max: maxMicroUsd })).kind === 'reserved';
}
