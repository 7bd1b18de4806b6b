import { HOLD_ORDER, type HoldKind, type HoldReport } from '../../ledger/index.ts';
import { timeText } from '../../time/index.ts';
import type { BatchedRequest, ModelBatch } from './batch-record.ts';
import { type ModelBatchPorts, ModelBatchStore, type RequestPlace } from './model-batch-store.ts';

const DAY_MS = 86_400_000;

/** What holds a task that waits for a batch: the names of both. */
export function holdOfBatch({ id, seq }: Pick<BatchedRequest, 'id' | 'seq'>): { gate: 'batch'; what: string } {
  return { gate: 'batch', what: `${id}_${seq}` };
}

/** The gate of runs whose model calls go by batches of providers. */
export function batchKind(ports: ModelBatchPorts): HoldKind {
  const store = new ModelBatchStore(ports);
  return {
    gate: 'batch',
    sort: 'hold',
    waits: "until a provider's [batch](money.md#batches) has answered a call of its model",
    limit: 'none',
    order: HOLD_ORDER,
    opens: 'the end of the batch, or the time when it is called directly',
    helps: 'It goes on with the answer of the batch, or calls its model directly once its time is short. Cancel it to stop that.',
    longMs: DAY_MS,
    foreseen: 'never',
    explain: async (tenant, what) => {
      const [id = '', seq = ''] = what.split('_');
      const place = await store.find({ tenant, id, seq: Number(seq) });
      return place && explainPlace(ports, place);
    },
  };
}

function explainPlace({ settings }: ModelBatchPorts, { record, waitsSince, batch }: RequestPlace): HoldReport {
  if (batch?.provider != null) return explainSent(batch, { provider: batch.provider, until: record.until });
  const by = waitsSince === null ? 'now' : `by ${timeText(waitsSince + settings.modelBatches.gatherMs)}`;
  const detail = `its call is gathered with others for a batch, which is sent ${by}; it is called directly at ${timeText(record.until)}`;
  return { detail, facts: { batch: null }, until: record.until };
}

function explainSent({ progress, record }: ModelBatch, { provider, until }: { provider: string; until: number }): HoldReport {
  const { completed, failed, total, status } = progress ?? NO_PROGRESS;
  const { provider: name, model } = record.target;
  const all = total === 0 ? record.total : total;
  return {
    detail: `with the provider's batch ${provider} of ${name} (${status}), ${completed + failed} of ${all} requests done, until ${timeText(until)}`,
    facts: { batch: provider, status, provider: name, model, completed, failed, total: all },
    until,
  };
}

const NO_PROGRESS = { completed: 0, failed: 0, total: 0, status: 'sent' };
