import { reserveSpend, type SpendPorts, spendSubject } from '../../budgets/index.ts';
import { isOpenCall, type Ledger, type NumberedEntry, readJournal } from '../../ledger/index.ts';
import { batchWaitOf, ModelBatchStore } from '../../providers/index.ts';
import type { TaskBody } from '../../tasks/index.ts';
import type { WaitHandlers } from '../../waits/index.ts';
import { answerRequest, type BatchPorts, spendIdOf } from './answer-request.ts';

/** What was reserved is free again so long after its run went on: a batch that nobody has an answer of. */
const KEEP_RESERVED_MS = 2 * 86_400_000;

/**
 * Has the requests of a run that waits for a batch gathered with others, under what its budgets have left for them; what they have too little for is called
 * directly. The second time it changes nothing.
 */
export function addRequest(given: Omit<BatchPorts, 'store'>): NonNullable<WaitHandlers['batch']> {
  const ports = { ...given, store: new ModelBatchStore(given) };
  const add = async (body: TaskBody, entry: NumberedEntry): Promise<null> => {
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
  return async ({ body, entry }) => {
    for (const each of await callsAt(ports.ledger, body, entry)) await add(body, each);
    return null;
  };
}

/** A call, with those that its run makes at the same time. */
async function callsAt(ledger: Ledger, body: TaskBody, entry: NumberedEntry): Promise<readonly NumberedEntry[]> {
  if (entry.given === undefined) return [entry];
  return (await readJournal(ledger, body)).entries.filter((each) => isOpenCall(each));
}

type Reservation = Parameters<typeof reserveSpend>[1] & { maxMicroUsd: number };

async function reserve(ports: SpendPorts, { maxMicroUsd, ...request }: Reservation): Promise<boolean> {
  return (await reserveSpend(ports, request, { max: maxMicroUsd })).kind === 'reserved';
}
