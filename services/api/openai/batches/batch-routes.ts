import { z } from 'zod';
import type { Settings } from '#shared/config/index.ts';
import { type FileStore } from '#shared/files/index.ts';
import { route, type Route } from '#shared/http/index.ts';
import { keyOf } from '../../tasks/submit-task.ts';
import type { SentFiles } from '../files/sent-files.ts';
import { listQuerySchema, pageOf } from '../lists.ts';
import { metadataSchema } from '../requests/chat-request.ts';
import { wrong } from '../requests/read-content.ts';
import { type Batch, type BatchStatus, type BatchStore, ENDPOINTS, isOver } from './batch-store.ts';

export interface BatchRoutePorts {
  readonly files: FileStore;
  readonly sentFiles: SentFiles;
  readonly batches: BatchStore;
  readonly config: { readonly settings: Settings };
}

const path = '/openai/v1/batches';
const params = z.object({ batch: z.string() });
const noQuery = z.looseObject({});
const answers = { 200: z.unknown() };

/** `/openai/v1/batches`: files of requests that become tasks of low priority. */
export function batchRoutes(ports: BatchRoutePorts): Route[] {
  return [postBatch(ports), listBatches(ports), getBatch(ports), cancelBatch(ports)];
}

const batchSchema = z.looseObject({
  input_file_id: z.string().min(1).max(200),
  endpoint: z.enum(ENDPOINTS),
  completion_window: z.literal('24h'),
  metadata: metadataSchema.nullable().optional(),
});

function postBatch({ files, sentFiles, batches, config }: BatchRoutePorts): Route {
  return route({
    method: 'post',
    path,
    operationId: 'createBatch',
    summary: 'Have a file of requests answered',
    scope: 'submit',
    audit: 'work',
    request: { query: noQuery, body: batchSchema },
    responses: answers,
    handle: async ({ body }, call) => {
      const { tenant, traceparent } = call;
      const input = await sentFiles.find(tenant, body.input_file_id);
      if (input.purpose !== 'batch') throw wrong('input_file_id', `expected a file of the purpose "batch", got "${input.purpose}"`);
      const { tasks, openai } = config.settings;
      await files.prolong(tenant, input.stored.file, openai.batchMs + tasks.retentionMs);
      const createdAt = Date.now();
      const batch = await batches.create(tenant, {
        endpoint: body.endpoint,
        inputFile: input.id,
        window: body.completion_window,
        metadata: body.metadata ?? {},
        keyId: keyOf(call).keyId ?? null,
        traceparent,
        createdAt,
        expiresAt: createdAt + openai.batchMs,
      });
      return { status: 200, body: view(batch) };
    },
  });
}

function listBatches({ batches }: BatchRoutePorts): Route {
  return route({
    method: 'get',
    path,
    operationId: 'listBatches',
    summary: 'The batches that are kept',
    scope: 'read',
    request: { query: listQuerySchema },
    responses: answers,
    handle: async ({ query }, { tenant }) => ({ status: 200, body: pageOf((await batches.list(tenant)).map(view), query) }),
  });
}

function getBatch({ batches }: BatchRoutePorts): Route {
  return route({
    method: 'get',
    path: `${path}/:batch`,
    operationId: 'getBatch',
    summary: 'Read a batch',
    scope: 'read',
    request: { params, query: noQuery },
    responses: answers,
    handle: async (input, { tenant }) => ({ status: 200, body: view(await batches.find(tenant, input.params.batch)) }),
  });
}

function cancelBatch({ batches }: BatchRoutePorts): Route {
  return route({
    method: 'post',
    path: `${path}/:batch/cancel`,
    operationId: 'cancelBatch',
    summary: 'End a batch with what it has',
    scope: 'submit',
    request: { params, query: noQuery },
    responses: answers,
    handle: async (input, { tenant }) => ({
      status: 200,
      body: view(await batches.cancel(await batches.find(tenant, input.params.batch))),
    }),
  });
}

function view(batch: Batch): { id: string } & Record<string, unknown> {
  const { id, record, state, cancelAt } = batch;
  const at = (status: BatchStatus): number | null => seconds(state.at[status] ?? null);
  return {
    id,
    object: 'batch',
    endpoint: record.endpoint,
    input_file_id: record.inputFile,
    completion_window: record.window,
    status: cancelAt !== null && !isOver(batch) ? 'cancelling' : state.status,
    errors: state.errors.length === 0 ? null : { object: 'list', data: state.errors.map((error) => Object.assign({ param: null }, error)) },
    output_file_id: state.outputFile,
    error_file_id: state.errorFile,
    created_at: seconds(record.createdAt),
    in_progress_at: at('in_progress'),
    expires_at: seconds(record.expiresAt),
    finalizing_at: at('finalizing'),
    completed_at: at('completed'),
    failed_at: at('failed'),
    expired_at: at('expired'),
    cancelling_at: seconds(cancelAt),
    cancelled_at: at('cancelled'),
    request_counts: { total: state.total, completed: state.completed, failed: state.failed },
    metadata: record.metadata,
  };
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}
