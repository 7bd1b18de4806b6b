import type { BatchCall } from '../../agents/index.ts';
import type { Ledger, NumberedEntry } from '../../ledger/index.ts';
import { type BatchAnswer, batchAnswerSchema, holdOfBatch } from '../../providers/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';
import { valueOf } from './recorded-journal.ts';
import type { RunWaitSpec } from './run-waits.ts';

interface BatchWaitPorts {
  readonly journal: {
    /** The entry that an earlier attempt had next, behind the definition. */
    readonly following: NumberedEntry | undefined;
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
  { name, begin, until }: BatchCall & { until: number },
): Promise<BatchAnswer | null> {
  const { following } = journal;
  const { marginMs, maxRequestBytes } = ledger.settings.modelBatches;
  const endsAt = until - marginMs;
  if (following === undefined ? begin === null || endsAt <= attempt.now() : following.kind !== 'batch') return null;
  const call = following === undefined && begin !== null ? await begin() : null;
  const wait = JSON.stringify(call);
  if (Buffer.byteLength(wait) > maxRequestBytes) return null;
  const entry = await journal.wait({
    kind: 'batch',
    name,
    begin: () => ({ until: endsAt, wait }),
    hold: ({ seq }) => holdOfBatch({ id: attempt.ref.id, seq }),
    reason: () => `its run waits for the answer of ${name} in a batch`,
    expired: () => JSON.stringify({ kind: 'direct', batch: null, reason: 'no batch answered in time' } satisfies BatchAnswer),
  });
  return batchAnswerSchema.parse(valueOf(entry));
}
