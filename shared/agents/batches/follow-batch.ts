import { type BatchedRequest, customIdOf, type ModelBatch } from '../../providers/index.ts';
import type { BatchPorts, RequestEnd } from './answer-request.ts';
import type { BatchClient, ProviderBatch } from './batch-client.ts';
import { dropFiles } from './drop-files.ts';
import { endAll, stillWaiting } from './end-requests.ts';
import { readResult } from './read-result.ts';

/** A batch that its provider has. */
export type SentBatch = ModelBatch & { readonly provider: string };

/** How a batch ends at its provider. */
const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Learns how far a batch is at its provider; where it has ended there, gives its answers to the runs. */
export async function followBatch(ports: BatchPorts, client: BatchClient, batch: SentBatch): Promise<void> {
  const { store, settings } = ports;
  const found = await client.read(batch.provider);
  const { total = 0, completed = 0, failed = 0 } = found.request_counts ?? {};
  const expiresAt = typeof found.expires_at === 'number' ? found.expires_at * 1000 : null;
  await store.noteProgress(batch.id, { status: found.status, total, completed, failed, expiresAt });
  if (OVER.has(found.status)) return await end(ports, client, { batch, found });
  if (found.status !== 'cancelling' && (await stillWaiting(ports, batch.open)).length === 0) await client.cancel(batch.provider);
  await store.lookIn(batch.id, settings.modelBatches.pollMs);
}

async function end(ports: BatchPorts, client: BatchClient, { batch, found }: { batch: SentBatch; found: ProviderBatch }): Promise<void> {
  const { store, log } = ports;
  const open = new Map(batch.open.map((request) => [customIdOf(request), request]));
  for (const file of [found.output_file_id, found.error_file_id]) if (file) await readFile(ports, client, { batch, file, open });
  const [problem] = found.errors?.data ?? [];
  const reason = `the batch ended as ${found.status}${problem?.message ? `: ${problem.message}` : ' without an answer'}`;
  await endAll(ports, batch.id, [...open.values()], { kind: 'direct', provider: batch.provider, reason });
  await store.remove(batch.id);
  dropFiles(ports, client, [batch.file, found.input_file_id, found.output_file_id, found.error_file_id]);
  const { status, request_counts: counts } = found;
  log.info({ event: 'model-batch.ended', batch: batch.provider, status, counts, unanswered: open.size }, 'a batch of a provider has ended');
}

interface ReadFile {
  batch: SentBatch;
  file: string;
  /** Without an answer, by what names them there. */
  open: Map<string, BatchedRequest>;
}

/** Gives each run its line of a file, and takes it from those that are open. */
async function readFile(ports: BatchPorts, client: BatchClient, { batch, file, open }: ReadFile): Promise<void> {
  const { provider } = batch;
  for await (const line of client.lines(file)) {
    const result = line === null ? null : readResult(line);
    const request = result && open.get(result.customId);
    if (!result || !request) continue;
    const { body, reason } = result;
    const ended: RequestEnd = body ? { kind: 'answered', provider, body } : { kind: 'direct', provider, reason };
    await ports.store.keep(batch.id);
    await endAll(ports, batch.id, [request], ended);
    open.delete(result.customId);
  }
}
