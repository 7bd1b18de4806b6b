import type { BatchCall, BatchedCall } from '../../agents/index.ts';
import type { Ledger, NumberedEntry } from '../../ledger/index.ts';
import { type BatchAnswer, batchAnswerSchema, type BatchWait, holdOfBatch } from '../../providers/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';
import type { CallPlace, RecordedCall } from './recorded-calls.ts';
import { valueOf } from './recorded-journal.ts';
import type { RunWaitSpec } from './run-waits.ts';

interface BatchWaitPorts {
  readonly journal: {
    /** Takes the numbers of a call; null where it is to be made directly. */
    beginCall(call: CallPlace): RecordedCall | null;
    wait(spec: RunWaitSpec): Promise<NumberedEntry>;
  };
  readonly attempt: RunningAttempt;
  readonly ledger: Ledger;
}

/**
 * Has a call of a model go by a provider's batch. Gives the answer, or why the call is to be made directly; null where it never went so. `until`: when
 * its task is to have its answer, ms since the epoch.
 */
export async function callBatch(
  { journal, attempt, ledger }: BatchWaitPorts,
  { name, given, begin, until }: BatchCall & { until: number },
): Promise<BatchedCall | null> {
  const endsAt = until - ledger.settings.modelBatches.marginMs;
  const call = journal.beginCall({ name, given, mayBegin: begin !== null && endsAt > attempt.now() });
  if (call === null) return null;
  const { begun } = call;
  const plan =
    call.isNew && begin !== null
      ? await planned(() => begin(attempt.ref.tenant), ledger.settings.modelBatches.maxRequestBytes)
      : { reason: LATE };
  const entry = await journal.wait({
    kind: 'batch',
    name,
    begun,
    begin: (now) => (plan.wait === undefined ? { until: now } : { until: endsAt, wait: plan.wait }),
    hold: ({ seq }) => holdOfBatch({ id: attempt.ref.id, seq }),
    reason: () => `its run waits for the answer of ${name} in a batch`,
    expired: () => JSON.stringify({ kind: 'direct', batch: null, reason: plan.reason } satisfies BatchAnswer),
  });
  return { answer: batchAnswerSchema.parse(valueOf(entry)), at: begun.seq + 1 };
}

const LATE = 'no batch answered in time';

/** What is sent, as JSON, and why the call is made directly after all; without the first for one that cannot go by a batch. */
async function planned(begin: () => Promise<BatchWait>, maxBytes: number): Promise<{ wait?: string; reason: string }> {
  try {
    const wait = JSON.stringify(await begin());
    if (Buffer.byteLength(wait) <= maxBytes) return { wait, reason: LATE };
    return { reason: `the request has more than ${maxBytes} bytes (modelBatches.maxRequestBytes)` };
  } catch (error) {
    // A direct call says so too, where it is kept.
    return { reason: error instanceof Error ? error.message : 'it cannot be sent' };
  }
}
